"""Arrays as plain bytes: the npz file of a release, written and read without pickle.

Reading trusts nothing: names, types and shapes must be those that ``release.json`` declares, sizes
are bounded before memory is allocated, and every number must be finite.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust._lazy import parsing
from privclust._typing import AnyArray
from privclust.exceptions import ReleaseError

# What is wrong with a damaged release; callers that know its path make a sentence of it.

# What the standard library raises when a zip file is damaged, wherever the damage is: names are
# decoded and offsets used before any checksum is compared.
DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    UnicodeDecodeError,
    OverflowError,
)


class DamageError(Exception):
    """What is wrong inside a release that is being read, where its path is not known.

    It never leaves this package: loading turns it into a ``ReleaseError`` with the path.
    """

    def __init__(self, problem: str, remedy: str = "get a fresh copy from its publisher") -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


LARGEST_FILE = 2**31
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_TYPE = re.compile(r"bool|u?int(8|16|32|64)|float(32|64)")
_HEADER_BYTES = 16_384


def check_arrays(arrays: Mapping[str, npt.ArrayLike]) -> dict[str, AnyArray]:
    """Return read-only copies in native byte order; raise on what cannot be published."""
    checked: dict[str, AnyArray] = {}
    for name, values in arrays.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ReleaseError(f"{name!r} cannot name an array; use letters, digits and '_'.")
        array = np.array(values, order="C")
        if not _TYPE.fullmatch(array.dtype.name):
            raise ReleaseError(
                f"The array {name!r} is of type {array.dtype.name}; convert it to numbers."
            )
        array = array.astype(array.dtype.newbyteorder("="))
        if not np.isfinite(array).all():
            raise ReleaseError(f"The array {name!r} has infinities or NaN; correct it.")
        array.flags.writeable = False
        checked[name] = array
    return checked


def describe_arrays(arrays: Mapping[str, AnyArray]) -> dict[str, dict[str, Any]]:
    """Return type, shape and checksum of every array, as in ``release.json``."""
    return {
        name: {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(_read_member(array).tobytes()).hexdigest(),
        }
        for name, array in arrays.items()
    }


def to_npz(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return an npz file; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, _read_member(array), allow_pickle=False)
            # An explicit ZipInfo has no clock time.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    return buffer.getvalue()


def largest_npz(declared: Mapping[str, Any]) -> int:
    """Return the largest size of an npz file of the declared arrays; raise on absurd ones."""
    shapes = [_declared_shape(name, entry) for name, entry in declared.items()]
    numbers = sum(math.prod(shape) * dtype.itemsize for dtype, shape in shapes)
    if numbers > LARGEST_FILE:
        raise DamageError("its arrays are larger than any release")
    return numbers + (len(shapes) + 1) * _HEADER_BYTES


def from_npz(content: bytes, declared: Mapping[str, Any]) -> dict[str, AnyArray]:
    """Return the arrays of an npz file, exactly those that are declared.

    Its entries are not compressed, so what is read is never larger than the file.
    """
    if len(content) > largest_npz(declared):
        raise DamageError("arrays.npz is larger than the arrays that are declared")
    shapes = {name: _declared_shape(name, entry) for name, entry in declared.items()}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in shapes):
                raise DamageError("the arrays in arrays.npz are not those declared")
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise DamageError(
                    "the arrays in arrays.npz are compressed, which those of a release never are"
                )
            return {
                name: _read(archive, name, dtype, shape) for name, (dtype, shape) in shapes.items()
            }
    except DAMAGED_ZIP:
        raise DamageError("arrays.npz is not a complete npz file") from None


def _declared_shape(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("shape"), list):
        raise DamageError(f"the array {name!r} is not described")
    lengths = entry["shape"]
    whole = all(type(length) is int and 0 <= length < LARGEST_FILE for length in lengths)
    if not whole and all(type(length) is int and length > 0 for length in lengths):
        raise DamageError("its arrays are larger than any release")
    if not whole or len(lengths) > 8 or not _TYPE.fullmatch(str(entry.get("dtype"))):
        raise DamageError(f"the array {name!r} is of an unknown type or shape")
    return np.dtype(entry["dtype"]), tuple(lengths)


def _read(
    archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> AnyArray:
    """Read one array; no more bytes than its declared size are ever unpacked."""
    room = math.prod(shape) * dtype.itemsize + _HEADER_BYTES
    if archive.getinfo(f"{name}.npy").file_size > room:
        raise DamageError(f"the array {name!r} is larger than declared")
    with archive.open(f"{name}.npy") as file:
        stream = io.BytesIO(file.read(room + 1))
    try:
        with parsing:
            if _header(stream) != (shape, dtype.newbyteorder("<")):
                raise DamageError(f"the array {name!r} has a type or shape other than declared")
            stream.seek(0)
            array: AnyArray = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError):
        raise DamageError(f"the array {name!r} is not stored as plain numbers") from None
    return array


def _header(stream: io.BytesIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def _read_member(array: AnyArray) -> AnyArray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
