"""What is wrong with a damaged release; whoever knows its path makes a sentence of it."""

from __future__ import annotations

import struct
import zipfile
import zlib

__all__ = ["DAMAGED_ZIP", "DamageError"]

# What the standard library raises when a zip file is damaged, wherever the damage is: names are
# decoded and places are sought before any checksum is compared.
DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    UnicodeDecodeError,
    OverflowError,
)


class DamageError(Exception):
    """What is wrong inside a release that is being read, where its path is not known.

    It never leaves this package: loading turns it into a ``ReleaseError`` with the path.
    """

    def __init__(self, problem: str, remedy: str = "get a fresh copy from its publisher") -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy
