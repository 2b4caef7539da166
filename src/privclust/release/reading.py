"""Reading a release from a folder or a ``.privclust`` file, of which nothing is trusted.

Nothing is unpacked to disk. Sizes are compared with what a release may have, and with what it
declares, before any memory is taken.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from privclust.release.arrays import LARGEST_FILE
from privclust.release.errors import DAMAGED_ZIP, DamageError
from privclust.release.storage import ARRAYS, DOCUMENT, LARGEST_DOCUMENT, PARTS, SIGNATURE

__all__ = ["StoredFiles", "opened"]

_LIMITS = {DOCUMENT: LARGEST_DOCUMENT, ARRAYS: LARGEST_FILE, SIGNATURE: 2**14}
# A packed file may be this large when it is unpacked, whatever it is packed into; beyond, it must
# not be more than this many times larger than what lies on the disk.
_SMALL, _MOST_TIMES = 2**28, 8


class StoredFiles(Protocol):
    """The files of a release, in a folder or packed into one file."""

    def has(self, name: str) -> bool:
        """Tell whether there is such a file."""

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return a file, or raise if it is missing or larger than ``most`` or than it can be."""


@contextmanager
def opened(path: Path) -> Iterator[StoredFiles]:
    """Open a release; whatever the system or the zip format refuses becomes a sentence."""
    if not path.exists():
        raise DamageError("there is nothing at this path", "check the path")
    try:
        if path.is_dir():
            yield _Folder(path)
            return
        with zipfile.ZipFile(path) as archive:
            yield _Archive(archive, path.stat().st_size)
    except DAMAGED_ZIP:
        raise DamageError("it is not a complete release file") from None
    except OSError as error:
        reason = error.strerror or "the disk does not answer"
        raise DamageError(f"the system refuses ({reason})", "check the path") from None


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def has(self, name: str) -> bool:
        return (self._path / name).is_file()

    def read(self, name: str, most: int | None = None) -> bytes:
        if not self.has(name):
            raise DamageError(f"{name} is missing", "check the path or get a fresh copy")
        limit = _limit(name, most)
        with open(self._path / name, "rb") as file:
            content = file.read(limit + 1)
        _check_size(name, len(content), limit)
        return content


class _Archive:
    def __init__(self, archive: zipfile.ZipFile, bytes_on_disk: int) -> None:
        self._archive, self._bytes_on_disk = archive, bytes_on_disk
        names = archive.namelist()
        for name in names:
            if name not in PARTS:
                raise DamageError(f"it holds a file that is not part of a release, {name!r}")
            if names.count(name) > 1:
                raise DamageError(f"{name} is there twice")

    def has(self, name: str) -> bool:
        return name in self._archive.namelist()

    def read(self, name: str, most: int | None = None) -> bytes:
        if not self.has(name):
            raise DamageError(f"{name} is missing", "check the path or get a fresh copy")
        limit, entry = _limit(name, most), self._archive.getinfo(name)
        _check_size(name, entry.file_size, limit)
        packed = min(entry.compress_size, self._bytes_on_disk)
        if entry.file_size > max(_SMALL, _MOST_TIMES * packed):
            raise DamageError(
                f"{name} would unpack to far more than it holds",
                "if you trust it, unpack it to a folder and load that",
            )
        with self._archive.open(name) as file:
            content = file.read(limit + 1)
        _check_size(name, len(content), limit)
        return content


def _limit(name: str, most: int | None) -> int:
    return _LIMITS[name] if most is None else min(_LIMITS[name], most)


def _check_size(name: str, size: int, limit: int) -> None:
    if size > limit:
        raise DamageError(f"{name} is larger than that of any release")
