"""Files behind a URI: local, S3, GCS, Azure or HDFS, through ``pyarrow.fs``.

Credentials come from where each store usually finds them, such as the environment. What messages
call a file leaves out whatever stands in a URI beside the place itself, because it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from privclust.exceptions import DataError, one_sentence

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["Remote", "Stamp", "files_at", "is_uri", "without_secrets"]

# Size in bytes, and when it was last written in nanoseconds.
Stamp = tuple[int, int]

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_MAGIC = re.compile(r"[*\[]")  # a question mark begins the options of a store


def is_uri(path: str) -> bool:
    """Tell whether a path is a URI."""
    return _URI.match(path) is not None


def without_secrets(uri: str) -> str:
    """Return a URI without its user, password and options."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True)
class Remote:
    """One file of a store.

    Attributes
    ----------
    store : str
        A URI of the store, with its options.
    path : str
        Where the file is in it.
    """

    store: str
    path: str

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
) -> Sequence[tuple[Remote, Stamp, str]]:
    """Return the files that a URI stands for, each with its stamp and its path below the URI.

    Parameters
    ----------
    uri : str
        Of a file, of a folder, whose files are all read, or with a pattern such as ``*.parquet``.
    of_a_folder : callable
        Takes the paths of the files below a folder and returns those that are meant.
    """
    shown = without_secrets(uri)
    unread = f"'{shown}' cannot be read; check the address, the network and the credentials."
    pattern = _MAGIC.search(uri)
    plain = uri if pattern is None else uri[: uri.rindex("/", 0, pattern.start())]
    options = uri[uri.index("?") :] if "?" in uri and pattern is not None else ""
    with one_sentence(unread, Exception):
        store, base = _store(plain + options)
        found = _listed(store, base)
    if pattern is not None:
        wanted = urlsplit(uri).path[len(urlsplit(plain).path) :].lstrip("/")
        found = [info for info in found if fnmatchcase(_below(info.path, base), wanted)]
    elif len(found) != 1 or found[0].path != base:
        meant = set(of_a_folder([_below(info.path, base) for info in found]))
        found = [info for info in found if _below(info.path, base) in meant]
    if not found:
        raise DataError(f"'{shown}' holds no file that can be read; check the address.")
    found.sort(key=lambda info: info.path)
    root = plain + options
    return [(Remote(root, info.path), _stamp(info), _below(info.path, base)) for info in found]


@lru_cache(maxsize=64)
def _store(uri: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    store, path = FileSystem.from_uri(uri)
    return store, path


def _listed(store: FileSystem, base: str) -> list[Any]:
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
