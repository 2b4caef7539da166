"""The head of the ledger, kept in a file outside the database, so that an old copy is noticed.

A copy of a database that is put back does not know what was charged since; that budget could be
spent again. The file names the newest entry that was ever written, and a database without it is
refused.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from privclust.ledger.chain import Head
from privclust.service.errors import ServiceError


@dataclass(frozen=True)
class KeptHead:
    """A head in a file.

    Attributes
    ----------
    place : Path
    """

    place: Path

    def read(self) -> Head | None:
        """Return the head that was kept, if there is one."""
        try:
            entries, digest = self.place.read_text("utf-8").split()
            return Head(int(entries), digest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise ServiceError(
                f"The head of the ledger in '{self.place}' cannot be read; put back what was there."
            ) from None

    def keep(self, head: Head) -> None:
        """Write a head down, unless a later one is there: other processes write too."""
        known = self.read()
        if known is not None and known.entries >= head.entries:
            return
        new = self.place.with_name(f"{self.place.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{head.entries} {head.digest}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.place)

    def refusal(self) -> str:
        """Return the sentence about a database that lacks the entry."""
        return (
            "The database lacks entries that were written before, as an old copy does "
            f"('{self.place}' names the newest); put a newer copy in its place, or remove that "
            "file to accept that budget spent since can be spent again."
        )
