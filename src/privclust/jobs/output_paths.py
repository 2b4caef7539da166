"""Output files: paths are checked before anything is computed, and writing is atomic."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_RELEASE_FILE = ".privclust"
_OTHER_FILES = (".csv", ".html", ".json", ".npz", ".parquet", ".toml", ".tsv", ".txt", ".zip")


def is_one_file(release: Path) -> bool:
    """Return whether the path of a release means one file, not a folder."""
    return release.suffix.lower() == _RELEASE_FILE


def report_of(release: Path) -> Path:
    """Return the path of the report of a release: within its folder, or next to its file."""
    return release.with_suffix(".html") if is_one_file(release) else release / "report.html"


def check_release(path: Path, *, overwrite: bool) -> None:
    """Raise unless a release can be written here; a fit costs budget, so this comes first."""
    if path.suffix.lower() in _OTHER_FILES:
        raise ValueError(
            f"'{path}' cannot be a release; name a folder or a file ending in {_RELEASE_FILE}."
        )
    if _exists(path):
        if not _is_release(path):
            raise ValueError(f"'{path}' exists and is not a release; choose another path.")
        _check_overwrite(path, overwrite)
    check_folder(path)


def check_file(path: Path, what: str, suffixes: Sequence[str], *, overwrite: bool) -> None:
    """Raise unless a file of one of these suffixes can be written here."""
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{what} '{path}' must end in {' or '.join(suffixes)}; rename it.")
    if path.is_dir():
        raise ValueError(f"'{path}' is a folder; give the path of a file.")
    if path.exists():
        _check_overwrite(path, overwrite)
    check_folder(path)


def check_folder(path: Path) -> None:
    """Raise unless ``path`` can be created; nothing is left behind."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"'{path}' cannot be written, its folder does not exist; create it.")
    try:
        with tempfile.TemporaryDirectory(prefix=".privclust-", dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"'{path}' cannot be written ({reason}); choose a writable path."
        ) from None


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``, moved into place at the end if all went well."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _exists(path: Path) -> bool:
    if path.is_dir() and not is_one_file(path):
        return any(path.iterdir())
    return path.exists()


def _is_release(path: Path) -> bool:
    from privclust.release.storage import PARTS

    if path.is_dir() is is_one_file(path):
        return False
    inside = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    return inside <= PARTS


def _check_overwrite(path: Path, overwrite: bool) -> None:
    if not overwrite:
        raise ValueError(f"'{path}' exists; choose another path or pass --overwrite.")
