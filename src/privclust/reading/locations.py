"""Where rows are outside Python: files, patterns, folders, URIs, standard input.

Credentials come from where each store usually finds them, such as the environment. Messages leave
out everything in a URI besides the path itself, because it may be secret.

A location can be opened as often as needed. What can be read only once is copied, unparsed, to a
temporary file that has no name and vanishes with the process.
"""

from __future__ import annotations

import glob
import io
import os
import re
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from privclust.data.rows import CHANGED
from privclust.exceptions import DataError, as_one_sentence
from privclust.reading.frames import native_frame

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


# Files behind a URI: local, S3, GCS, Azure or HDFS, through ``pyarrow.fs``.

# Size in bytes, and when it was last written in nanoseconds.
Stamp = tuple[int, int]

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_GLOB_MARKS = re.compile(r"[*\[]")  # a question mark begins the options of a store


def is_uri(path: str) -> bool:
    """Return whether a path is a URI."""
    return _URI.match(path) is not None


def without_secrets(uri: str) -> str:
    """Return a URI without its user, password and options."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True)
class RemoteFile:
    """One file of a store."""

    store: str  # a URI of the store, with its options
    path: str  # the path of the file in it

    def open(self) -> Any:
        """Return the file, from its beginning."""
        return _store(self.store)[0].open_input_file(self.path)

    def stamp(self) -> Stamp:
        """Return size and time of the file as they are now."""
        return _stamp(_store(self.store)[0].get_file_info(self.path))

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"'{urlsplit(self.store).scheme}://{self.path.lstrip('/')}'"


def files_at(
    uri: str, of_a_folder: Callable[[Sequence[str]], Collection[str]]
) -> Sequence[tuple[RemoteFile, Stamp, str]]:
    """Return the files that a URI names, each with its stamp and its path below the URI.

    ``uri``: of a file, of a folder, whose files are all read, or with a pattern such as
    ``*.parquet``. ``of_a_folder``: takes the paths of the files below a folder and returns the ones
    to read.
    """
    shown = without_secrets(uri)
    unread = f"'{shown}' cannot be read; check the address, the network and the credentials."
    pattern = _GLOB_MARKS.search(uri)
    plain = uri if pattern is None else uri[: uri.rindex("/", 0, pattern.start())]
    options = uri[uri.index("?") :] if "?" in uri and pattern is not None else ""
    with as_one_sentence(unread, Exception):
        store, base = _store(plain + options)
        found = _list_files(store, base)
    if pattern is not None:
        wanted = urlsplit(uri).path[len(urlsplit(plain).path) :].lstrip("/")
        found = [info for info in found if fnmatchcase(_below(info.path, base), wanted)]
    elif len(found) != 1 or found[0].path != base:
        meant = set(of_a_folder([_below(info.path, base) for info in found]))
        found = [info for info in found if _below(info.path, base) in meant]
    if not found:
        raise DataError(f"'{shown}' has no file that can be read; check the address.")
    found.sort(key=lambda info: info.path)
    root = plain + options
    return [(RemoteFile(root, info.path), _stamp(info), _below(info.path, base)) for info in found]


@lru_cache(maxsize=64)
def _store(uri: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    store, path = FileSystem.from_uri(uri)
    return store, path


def _list_files(store: FileSystem, base: str) -> list[Any]:
    from pyarrow.fs import FileSelector, FileType

    info = store.get_file_info(base)
    if info.type == FileType.File:
        return [info]
    below = store.get_file_info(FileSelector(base, recursive=True, allow_not_found=True))
    return [entry for entry in below if entry.type == FileType.File]


def _below(path: str, base: str) -> str:
    return path.removeprefix(base).lstrip("/")


def _stamp(info: Any) -> Stamp:
    if info.size is None:
        raise FileNotFoundError
    return int(info.size), int(info.mtime_ns or 0)


STANDARD_INPUT = "-"

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "excel"),
    ".npz": "npz",  # of matrices, not of rows
}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
# The first bytes of files that are not CSV.
_MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow"))
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class FileLocation:
    """One file, or a stream that was kept."""

    name: str  # what messages call it
    format: str
    delimiter: str  # what usually separates the fields of a CSV file with such a name
    compression: str | None  # how it is compressed, in Arrow's words
    file: Path | RemoteFile | _SpooledStream
    stamp: Stamp | None = None  # size and time of the file when it was found
    # Columns given by folder names, as in ``year=2024``.
    partition: tuple[tuple[str, str], ...] = ()

    def open(self) -> Any:
        """Return the path, or a binary file at its beginning."""
        return self.file if isinstance(self.file, Path) else self.file.open()

    @property
    def is_kept(self) -> bool:
        """Whether it is a stream, which is only on this machine."""
        return isinstance(self.file, _SpooledStream)

    def check_unchanged(self) -> None:
        """Raise if the file has changed since it was found."""
        if isinstance(self.file, _SpooledStream) or self.stamp is None:
            return
        gone = f"File {self.name} is no longer there; {CHANGED[0].lower()}{CHANGED[1:]}"
        with as_one_sentence(gone, Exception):
            now = self.file.stamp() if isinstance(self.file, RemoteFile) else _stamp_of(self.file)
        if now != self.stamp:
            raise DataError(f"File {self.name} is not the same as before: {CHANGED.lower()}")


class FileLocations(tuple[FileLocation, ...]):
    """Locations whose rows are read one after the other."""

    __slots__ = ()

    def close(self) -> None:
        """Release cached streams."""
        for place in self:
            if isinstance(place.file, _SpooledStream):
                place.file.close()


def resolve_locations(data: Any) -> Any:
    """Return the locations that ``data`` names, or what has the rows in memory."""
    if isinstance(data, str) and not data:
        raise DataError("The path of the data is empty; give the path of a file.")
    if _is_binary_file(data):
        return FileLocations([_stream(data, "the given file")])
    many = (
        data if isinstance(data, (list, tuple)) and not isinstance(data, FileLocations) else [data]
    )
    if not many or not all(isinstance(path, (str, os.PathLike)) for path in many):
        return native_frame(data)
    found = FileLocations(place for path in many for place in _location_of(os.fsdecode(path)))
    if len({place.format for place in found}) > 1:
        raise DataError("The files are of different formats; give files of one format.")
    return found


def _is_binary_file(data: Any) -> bool:
    return isinstance(data, (io.RawIOBase, io.BufferedIOBase))


def _location_of(path: str) -> list[FileLocation]:
    if path == STANDARD_INPUT:
        return [_standard_input()]
    if path.startswith("file://"):
        path = url2pathname(urlsplit(path).path)
    absent = f"File '{path}' was not found; check the path."
    if "\0" in path:  # which no system allows in a path
        raise DataError(absent)
    if is_uri(path):
        return _at_uri(path)
    with as_one_sentence(absent, OSError):
        return [
            _in_file(file, f"'{file}'", _stamp_of(file), below)
            for file, below in _expand_path(Path(path))
        ]


def _at_uri(uri: str) -> list[FileLocation]:
    found = files_at(uri, _of_a_folder)
    return [_in_file(file, file.name, stamp, below) for file, stamp, below in found]


def _expand_path(path: Path) -> Sequence[tuple[Path, str]]:
    """Return the files that a path names, each with its path below a folder."""
    if path.is_dir():
        below = {
            file.relative_to(path).as_posix(): file
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }
        wanted = _of_a_folder(list(below))
        if not wanted:
            raise DataError(
                f"Directory '{path}' has no .parquet, .csv or .arrow file; check the path."
            )
        return [(below[name], name) for name in wanted]
    if path.is_file():
        return [(path, "")]
    if glob.has_magic(str(path)):
        found = sorted(Path(name) for name in glob.glob(str(path)) if Path(name).is_file())
        if not found:
            raise DataError(f"No file matches '{path}'; check the pattern.")
        return [(file, "") for file in found]
    raise DataError(f"File '{path}' was not found; check the path.")


def _of_a_folder(below: Sequence[str]) -> list[str]:
    """Return the files of a folder to read: those of Parquet, or else all readable ones.

    Not ``_SUCCESS`` and the like, nor anything in a folder with such a name.
    """
    shown = [name for name in below if not any(part[:1] in (".", "_") for part in name.split("/"))]
    parquet = [name for name in shown if _format_of(name)[0] == "parquet"]
    return parquet or [name for name in shown if _format_of(name)[0] is not None]


def _format_of(path: str) -> tuple[str | None, str, str | None]:
    """Return the format, the suffix and the compression inferred from the file name."""
    suffixes = ["", "", *(suffix.lower() for suffix in PurePosixPath(path).suffixes)]
    compression = _COMPRESSIONS.get(suffixes[-1])
    suffix = suffixes[-2] if compression else suffixes[-1]
    form = _FORMATS.get(suffix)
    return (None if compression and form != "csv" else form), suffix, compression


def _in_file(file: Path | RemoteFile, name: str, stamp: Stamp, below: str) -> FileLocation:
    path = file.path if isinstance(file, RemoteFile) else file.as_posix()
    form, suffix, compression = _format_of(path)
    if form is None:
        raise DataError(
            f"File {name} is of an unknown format; give a .csv, .tsv, .xlsx or .parquet file."
        )
    pairs = [folder.partition("=") for folder in below.split("/")[:-1]]
    partition = tuple((unquote(key), unquote(value)) for key, mark, value in pairs if mark)
    delimiter = "\t" if suffix == ".tsv" else ","
    return FileLocation(name, form, delimiter, compression, file, stamp, partition)


def _stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _standard_input() -> FileLocation:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        raise DataError("Standard input is empty; pipe a file into it or name the file.")
    return _stream(stream, "standard input")


def _stream(stream: IO[bytes], name: str) -> FileLocation:
    kept = _SpooledStream(stream, name)
    start = kept.open().read(8)
    form = next((form for magic, form in _MAGIC if start.startswith(magic)), "csv")
    compression = "gzip" if start.startswith(_GZIP) else None
    return FileLocation(name, form, ",", compression, kept)


class _SpooledStream:
    """The bytes of a stream that can be read only once, in a file without a name."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        unread = f"Data cannot be read from {name} to its end; check it and the temporary folder."
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the finalizer
        self.close = weakref.finalize(self, self.file.close)
        self.lock = threading.Lock()
        with as_one_sentence(unread, OSError, ValueError):
            shutil.copyfileobj(stream, self.file)

    def open(self) -> io.BufferedReader:
        return io.BufferedReader(_Cursor(self))


class _Cursor(io.RawIOBase):
    """A reader with a position of its own; closing it does not close the shared file."""

    def __init__(self, kept: _SpooledStream) -> None:
        self._kept, self._at = kept, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._kept.lock:
            self._kept.file.seek(self._at)
            content = self._kept.file.read(len(buffer))
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            with self._kept.lock:
                offset = self._kept.file.seek(offset, os.SEEK_END)
        elif whence == os.SEEK_CUR:
            offset += self._at
        self._at = offset
        return offset
