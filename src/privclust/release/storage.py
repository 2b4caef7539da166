"""A release in a folder or one ``.privclust`` file: written all at once, read without trust.

Writing is all or nothing: files go to a temporary name next to the target, reach the disk, and are
then renamed. A release has cost budget, so one that cannot be written to its path is kept
elsewhere, and the error says where.

Nothing is unpacked to disk. Sizes are compared with what a release may have, and with what it
declares, before any memory is allocated.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from privclust.exceptions import NotSavedError, ReleaseError
from privclust.release import npz
from privclust.release.document import digest_of, make_document, parse_document, split_document
from privclust.release.kinds import all_kinds, get_kind
from privclust.release.npz import DAMAGED_ZIP, LARGEST_FILE, DamageError
from privclust.release.registry import model_card
from privclust.release.signature import Signature

if TYPE_CHECKING:
    from privclust.release.release import Release


# Writing a release: a folder, or one ``.privclust`` file (a zip) with the same files in it.

DOCUMENT, ARRAYS, REPORT, SIGNATURE = "release.json", "arrays.npz", "report.html", "signature.json"
CARD = "README.md"
TABLES = frozenset({"centres.csv", "clusters.csv", "cells.csv", "bounds.csv"})
# In folders alone: earlier versions refuse a file in which they do not know them.
FOLDERS_ALONE = TABLES | {CARD}
PARTS = frozenset({DOCUMENT, ARRAYS, REPORT, SIGNATURE, *FOLDERS_ALONE})
SUFFIX = ".privclust"
LARGEST_DOCUMENT = 2**24

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the last resort when every disk is full
_MOST_SWAPS = 100


def write_release(path: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    """Write the files as a folder, or as one file if the path ends in ``.privclust``.

    If the system refuses, they are kept elsewhere and the error says where.
    """
    if len(files[DOCUMENT]) > LARGEST_DOCUMENT:
        raise ReleaseError("release.json would be too large to read back; shorten the schema.")
    try:
        target = path.resolve()
        _check_free(path, target, overwrite)
        if path.suffix.lower() == SUFFIX:
            packed = {name: it for name, it in files.items() if name not in FOLDERS_ALONE}
            _write_atomically(target, _zip_files(packed), overwrite=overwrite)
        else:
            _write_folder(target, files, overwrite=overwrite)
    except OSError as error:
        if error.errno in _TAKEN and not overwrite:  # by another writer, since the check
            raise _exists(path) from None
        problem, remedy = _os_error_phrase(error, path, "Release")
        kept = save_elsewhere(path.name, files)
        where = "" if kept is None else f" (it was kept in '{kept}')"
        raise NotSavedError(f"{problem}; {remedy}{where}.", kept) from error


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write one file, all or nothing, replacing an older one."""
    try:
        _write_atomically(path.resolve(), content, overwrite=True)
    except OSError as error:
        raise ReleaseError("{}; {}.".format(*_os_error_phrase(error, path, what))) from error


def save_elsewhere(name: str, files: Mapping[str, bytes]) -> Path | None:
    """Write a release to the first writable folder, and return its path.

    ``name``: what the folder or file was to be called.
    """
    for place in (tempfile.gettempdir(), Path.home(), Path.cwd(), _SHARED_MEMORY):
        with suppress(OSError, RuntimeError):
            folder = Path(tempfile.mkdtemp(prefix="privclust-kept-", dir=place))
            with _remove_on_failure(folder, shutil.rmtree):
                _write_folder(folder / Path(name).stem, files, overwrite=False)
                return folder / Path(name).stem
    return None


def _exists(path: Path) -> ReleaseError:
    return ReleaseError(f"'{path}' exists; choose another path or pass overwrite=True.")


def _check_free(path: Path, target: Path, overwrite: bool) -> None:
    """Raise unless the target is free, or is a release and nothing else."""
    is_file = path.suffix.lower() == SUFFIX
    try:
        # A single check: while another writer replaces the folder, a second one may find nothing.
        inside = {entry.name for entry in target.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if not target.exists():  # its parent is not a folder
            return
        is_release = is_file
    else:
        if not inside and not is_file:
            return
        is_release = not is_file and inside <= PARTS
    if not is_release:
        # Even with overwrite: a folder with other files in it must not vanish.
        raise ReleaseError(f"'{path}' exists and is not a release; choose another path.")
    if not overwrite:
        raise _exists(path)


def _os_error_phrase(error: OSError, path: Path, what: str) -> tuple[str, str]:
    """Return what a system error means, and what to do about it."""
    if error.errno in _NO_SPACE:
        return f"{what} '{path}' does not fit on the disk", "free some space"
    if isinstance(error, FileNotFoundError):
        return f"{what} '{path}' cannot be written, its folder does not exist", "create it"
    reason = error.strerror or type(error).__name__
    return f"{what} '{path}' cannot be written ({reason})", "choose a writable path"


def _temporary(target: Path) -> Path:
    # Made by hand: the tempfile module would make files that only their owner can read.
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")


@contextmanager
def _remove_on_failure(temporary: Path, remove: Callable[[Path], object]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            remove(temporary)
        raise


def _write_atomically(target: Path, content: bytes, *, overwrite: bool) -> None:
    temporary = _temporary(target)
    with _remove_on_failure(temporary, os.unlink):
        _write_durably(temporary, content)
        if overwrite:
            os.replace(temporary, target)
        else:
            _rename_to_free(temporary, target)
    _sync_folder(target.parent)


def _rename_to_free(temporary: Path, target: Path) -> None:
    """Rename a file unless the new name exists, which a plain rename would replace."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.replace(temporary, target)
    else:
        os.unlink(temporary)


def _write_folder(target: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    temporary = _temporary(target)
    with _remove_on_failure(temporary, shutil.rmtree):
        os.mkdir(temporary)
        for name, content in files.items():
            _write_durably(temporary / name, content)
        _sync_folder(temporary)
        if overwrite:
            _swap_in(temporary, target)
        else:
            os.rename(temporary, target)  # fails if another writer has filled the target
    _sync_folder(target.parent)


def _swap_in(temporary: Path, target: Path) -> None:
    """Rename onto the target; what was there is removed last, or put back on failure.

    Another writer may fill the target in between; then that release is the older one, and is moved
    aside too.
    """
    replaced: list[Path] = []
    try:
        for _ in range(_MOST_SWAPS):
            if target.exists():
                old = _temporary(target)
                with suppress(FileNotFoundError):  # another writer has just moved it aside
                    os.rename(target, old)
                    replaced.append(old)
            try:
                os.rename(temporary, target)
                break
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
        else:
            raise FileExistsError(errno.EEXIST, "other writers are faster")
    except BaseException:
        if replaced and not target.exists():
            os.rename(replaced.pop(), target)
        raise
    finally:
        for old in replaced:
            shutil.rmtree(old, ignore_errors=True)


def _write_durably(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # other systems cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _zip_files(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # without clock time: equal releases, equal bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


# Reading a release from a folder or a ``.privclust`` file; nothing in it is trusted.

_LIMITS = {DOCUMENT: LARGEST_DOCUMENT, ARRAYS: LARGEST_FILE, SIGNATURE: 2**14}
# A file may be this large when unpacked, however small the archive; beyond, it must be at most this
# many times larger than on disk.
_SMALL, _MOST_TIMES = 2**28, 8


class StoredFiles(Protocol):
    """The files of a release, in a folder or packed into one file."""

    def has(self, name: str) -> bool:
        """Return whether there is such a file."""

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return a file, or raise if it is missing, larger than ``most``, or implausibly large."""


@contextmanager
def open_stored(path: Path) -> Iterator[StoredFiles]:
    """Open a release; errors of the system or the zip format become a sentence."""
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
                raise DamageError(f"it has a file that is not part of a release, {name!r}")
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
                f"{name} would unpack to far more than its size",
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


# A release as files, and back; where they are stored is not known here.


def pack_files(release: Release, *, report: bool = False) -> dict[str, bytes]:
    """Return the files of a release by their names."""
    content = npz.to_npz(release.arrays)
    document = make_document(release)
    document["arrays_file"] = {"name": ARRAYS, "sha256": hashlib.sha256(content).hexdigest()}
    document["digest"] = digest_of(document)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    card = model_card(release).encode("utf-8")
    files = {DOCUMENT: text.encode("utf-8"), ARRAYS: content, CARD: card, **pack_tables(release)}
    if release.signature is not None:
        files[SIGNATURE] = release.signature.to_json()
    if report:
        files[REPORT] = release.to_html().encode("utf-8")
    return files


def pack_tables(release: Release) -> dict[str, bytes]:
    """Return the CSV files of a release; they are made of it, and never read."""
    return get_kind(release.kind).tables_of(release)


def unpack_files(files: StoredFiles) -> tuple[dict[str, Any], str]:
    """Return the fields of the release in these files, and the digest that it must have."""
    document = parse_document(files.read(DOCUMENT))
    if document["kind"] not in all_kinds():
        kind = document["kind"]
        raise DamageError(f"its kind {kind!r} is not known here", "upgrade privclust")
    # The declared sizes come first: no more than they allow is ever read.
    content = files.read(ARRAYS, npz.largest_npz(document["arrays"]))
    if hashlib.sha256(content).hexdigest() != document["arrays_file"].get("sha256"):
        raise DamageError("arrays.npz does not match its checksum")
    arrays = npz.from_npz(content, document["arrays"])
    if npz.describe_arrays(arrays) != document["arrays"]:
        raise DamageError("its arrays do not match their checksums")
    signed = files.has(SIGNATURE)
    signature = Signature.from_json(files.read(SIGNATURE)) if signed else None
    fields = {"arrays": arrays, "signature": signature, **split_document(document)}
    return fields, document["digest"]
