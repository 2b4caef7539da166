"""Heads of ledgers that are kept elsewhere: how they are written, and what can serve as one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from privclust.jobs import places

if TYPE_CHECKING:
    from privclust.ledger import Head

__all__ = ["keep", "read"]

_DIGEST = re.compile(r"(?:[A-Za-z0-9._-]{1,100}:)?[0-9a-f]{64}")


def keep(path: Path, head: Head) -> None:
    """Write a head into a file; an older one there is replaced."""
    places.check_folder(path)
    with places.replacing(path) as temporary:
        plain = json.dumps({"entries": head.entries, "digest": head.digest})
        temporary.write_text(f"{plain}\n", encoding="utf-8")


def read(kept: str) -> Head | str:
    """Return the head, digest or receipt that a word on the command line stands for."""
    if _DIGEST.fullmatch(kept):
        return kept
    path = Path(kept)
    if not path.exists():
        raise ValueError(
            f"--head '{kept}' is neither a digest nor a receipt nor a file that exists; give one."
        )
    if path.is_dir() or places.is_one_file(path):
        return _receipt(path)
    return _written(path)


def _receipt(path: Path) -> str:
    from privclust.release import Release

    receipt = Release.load(path).privacy.receipt
    if receipt is None:
        raise ValueError(f"The release '{path}' was not charged to a ledger; give another one.")
    return receipt


def _written(path: Path) -> Head | str:
    from privclust.ledger import Head

    text = path.read_bytes()[:1000].decode("utf-8", errors="replace").strip()
    if _DIGEST.fullmatch(text):
        return text
    try:
        plain = json.loads(text)
        head = Head(int(plain["entries"]), str(plain["digest"]))
    except (ValueError, KeyError, TypeError):
        head = Head(0, "")
    if not _DIGEST.fullmatch(head.digest):
        raise ValueError(f"'{path}' holds no head of a ledger; write one with 'ledger head -o'.")
    return head
