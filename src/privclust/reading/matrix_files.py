"""Sparse matrices in ``.npz`` and Matrix Market files: declared shape and type, then entries.

SciPy's own reader reads beyond its buffer if a file is truncated or has a zero byte, which crashes
the whole process. So the few lines of the format are read here, and NumPy reads the numbers.

The declared shape is read and checked first: a few bytes can declare a matrix of any size. Other
libraries parse the files, and may raise any error for damage (a damaged zip file may be
"encrypted"), so all their errors become that one sentence.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from privclust._lazy import parsing
from privclust.exceptions import DataError, as_one_sentence

# Matrix Market files (``.mtx``): the shape that one declares, and its entries.

_LENGTH = re.compile(r"[0-9]{1,18}")
_TYPES = {
    "integer": np.int64,
    "unsigned-integer": np.uint64,
    "real": np.float64,
    "double": np.float64,
    "pattern": None,  # positions only, with a count of one each
}
# The factor by which an entry also gives the mirrored one.
_MIRRORED = {"general": 0, "symmetric": 1, "hermitian": 1, "skew-symmetric": -1}


@dataclass(frozen=True)
class _Header:
    """The first lines of a file."""

    layout: str
    field: str
    symmetry: str
    n_rows: int
    n_columns: int
    n_written: int

    @property
    def least_bytes(self) -> int:
        """The bytes of the shortest entry: a digit and a blank for each number of its line."""
        return 2 if self.layout == "array" else 4 if self.field == "pattern" else 6


def market_shape(path: Path) -> tuple[int, int]:
    """Return the shape that a file declares, if the file is long enough for its entries."""
    with as_one_sentence(_no_market(path), Exception), _open_text(path) as file:
        header = _header(file)
        if header.n_written * header.least_bytes > path.stat().st_size:
            raise ValueError
    return header.n_rows, header.n_columns


def read_market(path: Path) -> Any:
    """Return the matrix of a file."""
    with as_one_sentence(_no_market(path), Exception), _open_text(path) as file:
        header = _header(file)
        return _dense(header, file) if header.layout == "array" else _sparse(header, file)


def _no_market(path: Path) -> str:
    return (
        f"'{path}' is not a matrix of real numbers in Matrix Market format; write one with "
        "scipy.io.mmwrite."
    )


def _open_text(path: Path) -> IO[str]:
    # A comment may be in any encoding, and all the rest is ASCII.
    return open(path, encoding="latin-1")


def _header(file: IO[str]) -> _Header:
    """Read the first lines, up to the one that says how large the matrix is."""
    banner, kind, layout, field, symmetry = file.readline().lower().split()
    if (banner, kind) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError
    if field not in _TYPES or symmetry not in _MIRRORED or (layout, field) == ("array", "pattern"):
        raise ValueError
    size = next(line for line in file if line.strip() and not line.startswith("%")).split()
    if not all(map(_LENGTH.fullmatch, size)):
        raise ValueError
    if layout == "coordinate":
        n_rows, n_columns, n_written = map(int, size)
    else:
        n_rows, n_columns = map(int, size)
        n_written = n_rows * n_columns
    if symmetry != "general" and n_rows != n_columns:
        raise ValueError
    if layout == "array" and symmetry != "general":  # the lower triangle alone
        n_written = n_rows * (n_rows + (-1 if symmetry == "skew-symmetric" else 1)) // 2
    return _Header(layout, field, symmetry, n_rows, n_columns, n_written)


def _numbers(header: _Header, file: IO[str], dtype: Any) -> Any:
    """Read the entries, each a line of numbers; exactly as many as declared."""
    if header.n_written == 0:
        return np.empty(0, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fraction where whole numbers were declared, or no lines
        numbers = np.loadtxt(file, dtype, comments="%", ndmin=1)
    if len(numbers) != header.n_written:
        raise ValueError
    return numbers


def _sparse(header: _Header, file: IO[str]) -> Any:
    places = [("row", np.int64), ("column", np.int64)]
    type_ = _TYPES[header.field]
    read = _numbers(header, file, places if type_ is None else [*places, ("entry", type_)])
    rows, columns = read["row"] - 1, read["column"] - 1
    entries = np.ones(len(read), np.int64) if type_ is None else read["entry"]
    sign = _MIRRORED[header.symmetry]
    if sign:
        off = rows != columns
        rows, columns = np.append(rows, columns[off]), np.append(columns, rows[off])
        entries = np.append(entries, sign * entries[off])
    return sparse.coo_array(
        (entries, (rows, columns)), shape=(header.n_rows, header.n_columns), dtype=entries.dtype
    )


def _dense(header: _Header, file: IO[str]) -> Any:
    numbers = _numbers(header, file, _TYPES[header.field])
    shape, sign = (header.n_rows, header.n_columns), _MIRRORED[header.symmetry]
    if not sign:
        return numbers.reshape(shape, order="F")
    matrix = np.zeros(shape, numbers.dtype)
    # Column by column below the diagonal is row by row above it.
    rows, columns = np.triu_indices(header.n_rows, 1 if sign < 0 else 0)
    matrix[rows, columns] = sign * numbers
    matrix[columns, rows] = numbers
    return matrix


# Sparse matrices in ``.npz`` files: shape and type as declared, whether memory holds it, entries.

Shape = tuple[int, int]

# A row or a column needs about this many bytes, even if it is empty: pointers, labels, totals.
_BYTES_PER_LINE = 64
# If the system does not report its memory.
_ASSUMED_MEMORY = 2**35
_LONGEST_HEADER = 2**12


def check_memory(shape: tuple[int, ...]) -> None:
    """Refuse a shape whose empty rows and columns alone would not fit into memory."""
    if sum(map(int, shape)) * _BYTES_PER_LINE > _memory():
        raise DataError(
            "The matrix has more rows and columns than fit into the memory of this machine, even "
            "if all were empty; leave out those without entries."
        )


def _memory() -> int:
    """Return the memory of the machine in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_MEMORY


def _no_npz(path: Path) -> str:
    return f"'{path}' is not a sparse matrix; save one with scipy.sparse.save_npz."


def npz_shape(path: Path) -> Shape:
    """Return the shape that a file declares, if it holds real numbers that fit into memory."""
    with as_one_sentence(_no_npz(path), Exception):
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            with parsing:
                stored_type = _stored_type(archive)
        if sizes["shape.npy"] > _LONGEST_HEADER:
            raise ValueError
        with parsing, np.load(path, allow_pickle=False) as stored:
            n_rows, n_columns = (int(length) for length in stored["shape"])
    if sum(sizes.values()) > _memory():
        raise DataError(f"'{path}' does not fit into the memory of this machine; cut it.")
    if stored_type.kind not in "biuf":
        raise DataError(f"'{path}' has something other than real numbers; save counts.")
    return n_rows, n_columns


def _stored_type(archive: zipfile.ZipFile) -> np.dtype[Any]:
    """Return the type of the entries, from the header of their array; none of them is read."""
    with archive.open("data.npy") as file:
        first = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format
        _, _, dtype = (read.read_array_header_1_0 if first else read.read_array_header_2_0)(file)
    return dtype


def read_npz(path: Path) -> Any:
    """Return the matrix of a file as SciPy or NumPy saves one."""
    with (
        as_one_sentence(_no_npz(path), Exception),
        parsing,
        np.load(path, allow_pickle=False) as stored,
    ):
        if "format" in stored:
            return sparse.load_npz(path)
        parts = stored["data"], stored["indices"], stored["indptr"]
        n_rows, n_columns = (int(length) for length in stored["shape"])
        return sparse.csr_array(parts, shape=(n_rows, n_columns))
