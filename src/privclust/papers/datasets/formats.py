"""File formats of public data sets: CLUTO, MATLAB, triples, MNIST's idx, tables of text.

Every reader takes a path, compressed by gzip or not, and returns arrays.
"""

from __future__ import annotations

import csv
import gzip
import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from privclust._typing import Floats
from privclust.exceptions import DataError

_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def stem(path: str | Path) -> str:
    """Return the name of a file without its folder and endings."""
    return Path(path).name.split(".")[0]


def read_cluto(path: str | Path) -> Any:
    """Read a matrix in CLUTO's text format.

    The first line has the numbers of rows, columns and entries; line i + 1 has row i as pairs of a
    column, counted from one, and a value. Without a number of entries the rows are dense.
    """
    with _open_maybe_gzip(path) as file:
        head = [int(word) for word in file.readline().split()]
        lines = [np.array(line.split(), dtype=np.float64) for line in file]
    if len(head) not in (2, 3) or len(lines) != head[0]:
        raise DataError(f"'{path}' is not a CLUTO matrix: its first line does not fit the others.")
    if len(head) == 2:
        return sparse.csr_array(np.array(lines).reshape(head))
    pointers = np.cumsum([0, *(len(line) // 2 for line in lines)])
    words = np.concatenate([*lines, np.zeros(0)])
    parts = words[1::2], words[::2].astype(np.int64) - 1, pointers
    return sparse.csr_array(parts, shape=(head[0], head[1]))


def read_matlab(path: str | Path) -> tuple[Any, NDArray[Any] | None]:
    """Read the matrix of a MATLAB file, and its classes if it has a vector of as many entries.

    The matrix is the largest array with at least two rows and two columns.
    """
    read = io.loadmat(path, spmatrix=False).items()
    found = {name: value for name, value in read if not name.startswith("__")}
    tables = [value for value in found.values() if len(value.shape) == 2 and min(value.shape) > 1]
    if not tables:
        raise DataError(f"'{path}' has no array of two rows and columns or more.")
    matrix = sparse.csr_array(max(tables, key=lambda table: table.shape[0] * table.shape[1]))
    n_rows = matrix.shape[0]
    vectors = [value.ravel() for value in found.values() if sorted(value.shape) == [1, n_rows]]
    return matrix, vectors[0] if vectors else None


def read_triples(path: str | Path, *, first: int = 0) -> Any:
    """Read lines of row, column and value, between commas or blanks.

    Parameters
    ----------
    path : str or Path
    first : int, default=0
        The number of the first row and of the first column.
    """
    table = read_numbers(path)
    if table.shape[1] != 3:
        raise DataError(f"'{path}' has no lines of row, column and value.")
    rows, columns = table[:, :2].T.astype(np.int64) - first
    if len(table) and min(rows.min(), columns.min()) < 0:
        raise DataError(f"'{path}' has a row or column below {first}; give first=.")
    return sparse.coo_array((table[:, 2], (rows, columns))).tocsr()


def read_idx(path: str | Path) -> NDArray[Any]:
    """Read an array in the idx format of MNIST."""
    with gzip.open(path) if str(path).endswith(".gz") else Path(path).open("rb") as file:
        zero, kind, dimensions = struct.unpack(">HBB", file.read(4))
        if zero or kind not in _IDX_TYPES:
            raise DataError(f"'{path}' is not an idx file.")
        shape = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        return np.frombuffer(file.read(), _IDX_TYPES[kind]).reshape(shape)


def read_numbers(path: str | Path) -> Floats:
    """Read numbers between commas, semicolons or blanks; a first line may be a header."""
    with _open_maybe_gzip(path) as file:
        lines = [line.replace(",", " ").replace(";", " ").split() for line in file]
    lines = [line for line in lines if line]
    try:
        [float(word) for word in lines[0]]
    except (IndexError, ValueError):
        lines = lines[1:]
    try:
        return np.array(lines, dtype=np.float64).reshape(len(lines), -1)
    except ValueError as error:
        raise DataError(f"'{path}' is not a table of numbers.") from error


def read_records(path: str | Path) -> list[list[str]]:
    """Read a table of text between commas, as the UCI repository has them."""
    with _open_maybe_gzip(path) as file:
        return [row for row in csv.reader(file, skipinitialspace=True) if row]


def _open_maybe_gzip(path: str | Path) -> IO[str]:
    if str(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    return Path(path).open(encoding="utf-8")
