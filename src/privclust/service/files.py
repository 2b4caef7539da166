"""The files of a data set: where they may lie, and the digest by which a change is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from privclust.service.errors import ServiceError

_SUFFIXES = (".csv", ".parquet", ".arrow", ".feather", ".npz", ".mtx")
_OUTSIDE = "The path must name a file or folder below the data folder of the service; change it."


def place_of(folder: Path, path: str) -> Path:
    """Return the file or folder that a path below the data folder names.

    Parameters
    ----------
    folder : Path
        The data folder of the service, resolved.
    path : str
        A relative path; links that lead out of the folder are refused.
    """
    if not path or len(path) > 500 or not path.isprintable() or set(path) & set("*?[]:\\"):
        raise ServiceError(_OUTSIDE)
    given = Path(path)
    if given.is_absolute() or ".." in given.parts:
        raise ServiceError(_OUTSIDE)
    place = (folder / given).resolve()
    if place == folder or not place.is_relative_to(folder):
        raise ServiceError(_OUTSIDE)
    if not place.exists():
        raise ServiceError("There is no such file below the data folder; check the path.")
    if place.is_file() and place.suffix.lower() not in _SUFFIXES:
        raise ServiceError(f"A data set is one of {', '.join(_SUFFIXES)}; convert the file.")
    return place


def digest_of_files(place: Path) -> str:
    """Return the SHA-256 digest of a file, or of all files below a folder with their names."""
    return digests_of(place)[0]


def digests_of(place: Path) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file or a folder as a whole, and that of every single file."""
    if place.is_file():
        digest = _digest(place)
        return digest, (digest,)
    whole, single = hashlib.sha256(), set[str]()
    for file in sorted(place.rglob("*")):
        if file.is_symlink():
            raise ServiceError("A folder of data holds no links; put the files themselves there.")
        if file.is_file():
            digest = _digest(file)
            whole.update(f"{file.relative_to(place).as_posix()}\0{digest}\0".encode())
            single.add(digest)
    return whole.hexdigest(), tuple(sorted(single))


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
