"""Matrices of counts: the biclusters of the co-clustering paper, documents by words from files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privclust._typing import Indices
from privclust.exceptions import DataError
from privclust.papers.datasets.formats import read_cluto, read_matlab, read_triples, stem


@dataclass(frozen=True, eq=False)
class MatrixSet:
    """A matrix of counts and the classes of its rows.

    Attributes
    ----------
    name : str
    counts : csr_array of shape (n_rows, n_columns)
    classes : ndarray of shape (n_rows,)
        The class of each row, numbered from zero.
    """

    name: str
    counts: Any
    classes: Indices

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(np.unique(self.classes))

    @property
    def density(self) -> float:
        """The share of entries that are not zero; a file may store zeros as well."""
        return float(self.counts.count_nonzero() / np.prod(self.counts.shape))


def biclusters(n_columns: int, seed: int = 0, *, n_rows: int = 1000) -> MatrixSet:
    """Return the synthetic matrix of Battaglia and Pensa (2025).

    Three diagonal blocks, each at a level between 1 and 10, normal noise of deviation 3, rows and
    columns shuffled; then rounded to counts.
    """
    rng = np.random.default_rng(seed)
    rows, columns = (
        rng.permutation(np.arange(n_rows) % 3),
        rng.permutation(np.arange(n_columns) % 3),
    )
    level = rng.uniform(1, 10, 3)
    values = np.where(rows[:, None] == columns, level[rows][:, None], 0)
    values = values + rng.normal(0, 3, values.shape)
    counts = sparse.csr_array(np.rint(np.maximum(values, 0)).astype(np.int64))
    return MatrixSet(f"biclusters {n_rows} x {n_columns}", counts, rows)


def read_matrix(
    path: str | Path, *, classes: str | Path | None = None, first: int = 0
) -> MatrixSet:
    """Read a matrix of counts and the classes of its rows.

    Parameters
    ----------
    path : str or Path
        ``.npz`` with ``data``, ``indices``, ``indptr``, ``shape`` and ``labels``; ``.mat`` as
        CLUTO or MATLAB write it; any other file has triples of row, column and value.
    classes : str, Path or None
        A file with one class per line; CLUTO's ``.rclass`` next to the matrix is found by itself.
    first : int, default=0
        The number of the first row and column of triples.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"There is no file '{path}'.")
    found: NDArray[Any] | None = None
    if path.suffix == ".npz":
        counts, found = _read_npz(path)
    elif path.suffix == ".mat" and path.read_bytes()[:6] == b"MATLAB":
        counts, found = read_matlab(path)
    elif path.suffix == ".mat":
        counts = read_cluto(path)
    else:
        counts = read_triples(path, first=first)
    beside = next(
        (p for p in (path.with_suffix(".rclass"), Path(f"{path}.rclass")) if p.exists()), None
    )
    listed = classes or beside
    if listed is not None:
        found = np.array(Path(listed).read_text("utf-8").split())
    if found is None or len(found) != counts.shape[0]:
        raise DataError(f"'{path}' needs classes, one per row; name their file with classes=.")
    numbered = np.unique(found, return_inverse=True)[1]
    return MatrixSet(stem(path), counts.astype(np.int64), numbered)


def _read_npz(path: Path) -> tuple[Any, NDArray[Any] | None]:
    with np.load(path, allow_pickle=False) as stored:
        parts = stored["data"], stored["indices"], stored["indptr"]
        n_rows, n_columns = map(int, stored["shape"])
        counts = sparse.csr_array(parts, shape=(n_rows, n_columns))
        return counts, stored.get("labels")
