"""A release on disk: a folder, or one ``.privclust`` file (a zip) with the same files in it.

Writing is all or nothing: files go to a temporary name beside the target, reach the disk, and are
then renamed. Reading unpacks nothing to disk and reads no more bytes than a release may have.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from privclust.exceptions import ReleaseError
from privclust.release.arrays import LARGEST_FILE
from privclust.release.errors import DamageError

__all__ = ["ARRAYS", "DOCUMENT", "REPORT", "read_files", "write_file", "write_release"]

DOCUMENT, ARRAYS, REPORT = "release.json", "arrays.npz", "report.html"
SUFFIX = ".privclust"

_LIMITS = {DOCUMENT: 2**26, ARRAYS: LARGEST_FILE}
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def write_release(path: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    """Write the files as a folder, or as one file if the path ends in ``.privclust``."""
    with _told(path, "Release"):
        target = path.resolve()
        _check_free(path, target, overwrite)
        if path.suffix.lower() == SUFFIX:
            _write_atomically(target, _zipped(files))
        else:
            _write_folder(target, files)


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write one file, all or nothing; an older one gives way."""
    with _told(path, what):
        _write_atomically(path.resolve(), content)


def read_files(path: Path) -> tuple[bytes, bytes]:
    """Return ``release.json`` and ``arrays.npz`` of a release."""
    if not path.exists():
        raise DamageError("there is nothing at this path", "check the path")
    try:
        return _read_folder(path) if path.is_dir() else _read_zip(path)
    except OSError as error:
        reason = error.strerror or "the disk does not answer"
        raise DamageError(f"the system refuses ({reason})", "check the path") from None


def _check_free(path: Path, target: Path, overwrite: bool) -> None:
    """Raise unless the target is free, or holds a release and nothing else."""
    if not target.exists():
        return
    is_file = path.suffix.lower() == SUFFIX
    inside = {entry.name for entry in target.iterdir()} if target.is_dir() else set()
    if target.is_dir() and not inside and not is_file:
        return
    if target.is_dir() is is_file or inside - {DOCUMENT, ARRAYS, REPORT}:
        # Even with overwrite: a folder with other files in it must not vanish.
        raise ReleaseError(f"'{path}' exists and is not a release; choose another path.")
    if not overwrite:
        raise ReleaseError(f"'{path}' exists; choose another path or pass overwrite=True.")


@contextmanager
def _told(path: Path, what: str) -> Iterator[None]:
    """Answer an error of the system in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            text = f"{what} '{path}' does not fit on the disk; free some space."
        elif isinstance(error, FileNotFoundError):
            text = f"{what} '{path}' cannot be written, its folder does not exist; create it."
        else:
            reason = error.strerror or type(error).__name__
            text = f"{what} '{path}' cannot be written ({reason}); choose a writable place."
        raise ReleaseError(text) from error


def _temporary(target: Path) -> Path:
    # Made by hand: the tempfile module would make files that only their owner can read.
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")


@contextmanager
def _removed_on_failure(temporary: Path, remove: Callable[[Path], object]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            remove(temporary)
        raise


def _write_atomically(target: Path, content: bytes) -> None:
    temporary = _temporary(target)
    with _removed_on_failure(temporary, os.unlink):
        _write_durably(temporary, content)
        os.replace(temporary, target)
    _sync_folder(target.parent)


def _write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    temporary = _temporary(target)
    with _removed_on_failure(temporary, shutil.rmtree):
        os.mkdir(temporary)
        for name, content in files.items():
            _write_durably(temporary / name, content)
        _sync_folder(temporary)
        _swap_in(temporary, target)
    _sync_folder(target.parent)


def _swap_in(temporary: Path, target: Path) -> None:
    """Rename onto the target; what was there is removed last, or put back on failure."""
    if not target.exists():
        os.rename(temporary, target)
        return
    old = _temporary(target)
    os.rename(target, old)
    try:
        os.rename(temporary, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _write_durably(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # without clock time: equal releases, equal bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def _read_folder(path: Path) -> tuple[bytes, bytes]:
    contents = []
    for name, limit in _LIMITS.items():
        if not (path / name).is_file():
            raise DamageError(f"{name} is missing", "check the path or get a fresh copy")
        with open(path / name, "rb") as file:
            contents.append(_bounded(file.read(limit + 1), name, limit))
    return contents[0], contents[1]


def _read_zip(path: Path) -> tuple[bytes, bytes]:
    contents = []
    try:
        with zipfile.ZipFile(path) as archive:
            _check_names(archive.namelist())
            for name, limit in _LIMITS.items():
                with archive.open(name) as file:
                    contents.append(_bounded(file.read(limit + 1), name, limit))
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise DamageError("it is not a complete release file") from None
    return contents[0], contents[1]


def _check_names(names: list[str]) -> None:
    for name in names:
        if name not in (DOCUMENT, ARRAYS, REPORT):
            raise DamageError(f"it holds a file that is no part of a release, {name!r}")
    for name in (DOCUMENT, ARRAYS):
        if names.count(name) != 1:
            raise DamageError(f"{name} is missing or there twice")


def _bounded(content: bytes, name: str, limit: int) -> bytes:
    if len(content) > limit:
        raise DamageError(f"{name} is larger than that of any release")
    return content
