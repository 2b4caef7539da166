"""Sparse matrices in ``.npz`` files: shape and type as declared, whether memory holds it, entries.

The declared shape is read and checked first: a few bytes can declare a matrix of any size. Other
libraries parse the files, and what they raise for damage is without end (a damaged zip file may be
"encrypted"), so every error of theirs becomes that one sentence.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from privclust.exceptions import DataError, one_sentence

__all__ = ["check_memory", "npz_shape", "read_npz"]

Shape = tuple[int, int]

# A row or a column needs about this many bytes, even if it is empty: pointers, labels, totals.
_BYTES_PER_LINE = 64
# If the system does not say how much memory there is.
_ASSUMED_MEMORY = 2**35
_LONGEST_HEADER = 2**12


def check_memory(shape: tuple[int, ...]) -> None:
    """Refuse a shape for which the pointers of empty rows and columns alone would not fit."""
    if sum(map(int, shape)) * _BYTES_PER_LINE > _memory():
        raise DataError(
            "The matrix has more rows and columns than fit into the memory of this machine, even "
            "if all were empty; leave out those without entries."
        )


def _memory() -> int:
    """Return the bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_MEMORY


def _no_npz(path: Path) -> str:
    return f"'{path}' holds no sparse matrix; save one with scipy.sparse.save_npz."


def npz_shape(path: Path) -> Shape:
    """Return the shape that a file declares, if it holds real numbers that fit into memory."""
    with one_sentence(_no_npz(path), Exception):
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            stored_type = _stored_type(archive)
        if sizes["shape.npy"] > _LONGEST_HEADER:
            raise ValueError
        with np.load(path, allow_pickle=False) as stored:
            n_rows, n_columns = (int(length) for length in stored["shape"])
    if sum(sizes.values()) > _memory():
        raise DataError(f"'{path}' holds more than fits into the memory of this machine; cut it.")
    if stored_type.kind not in "biuf":
        raise DataError(f"'{path}' holds something other than real numbers; save counts.")
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
    with one_sentence(_no_npz(path), Exception), np.load(path, allow_pickle=False) as stored:
        if "format" in stored:
            return sparse.load_npz(path)
        parts = stored["data"], stored["indices"], stored["indptr"]
        n_rows, n_columns = (int(length) for length in stored["shape"])
        return sparse.csr_array(parts, shape=(n_rows, n_columns))
