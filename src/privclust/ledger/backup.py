"""Backups: a copy of a ledger that holds everything up to one moment, verified before it counts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from privclust.exceptions import LedgerError
from privclust.ledger.book import Store
from privclust.ledger.chain import Head

__all__ = ["write_backup"]


def write_backup(
    store: Store, place: str | PathLike[str], verified: Callable[[Path], Head]
) -> Head:
    """Write a ledger into a new file and return the head of what was written.

    Parameters
    ----------
    store : Store
        The ledger.
    place : str or path
        The file to make, which must not exist.
    verified : callable
        Verifies the ledger in a file and returns its head.
    """
    target = Path(place).expanduser().absolute()
    if target.exists():
        raise LedgerError(f"{target} exists; choose another place for the backup.")
    if not target.parent.is_dir():
        raise LedgerError(f"The folder of {target} does not exist; create it first.")
    with tempfile.TemporaryDirectory(prefix=".privclust-", dir=target.parent) as folder:
        copy = Path(folder, "ledger.db")
        store.backup(copy)
        os.chmod(copy, 0o600)
        head = verified(copy)
        os.rename(copy, target)
    _wait_for(target.parent)
    return head


def _wait_for(folder: Path) -> None:
    """Wait until the disk knows the names in a folder."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
