"""The door for matrices of counts: they come in here, and only noisy answers go out.

A matrix is kept sparse, as exact int64 counts. Opening looks at shapes and types only, so it may
precede the charge to a ledger; entries are read and checked afterwards. Errors never quote one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.door import noise_from
from privclust.data.engines.base import current_engine, engine_for
from privclust.data.matrix import kernels
from privclust.data.matrix.source import npz_pieces, source_of_npz, source_of_triples
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.reading.matrices import MatrixReader
from privclust.data.reading.matrix_parts import MatrixSource, MemoryMatrix
from privclust.exceptions import DataError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import MatrixUnit

__all__ = ["CountMatrix"]

Shape = tuple[int, int]


class CountMatrix:
    """A matrix of non-negative counts, opened under a privacy unit.

    Parameters
    ----------
    data : sparse matrix, array, data frame or path
        A SciPy sparse matrix of any format; a dense array or nested list; the path of an ``.npz``
        file (as SciPy saves one, or with the arrays data, indices, indptr and shape) or of an
        ``.mtx`` file. With ``shape``, also the path of a CSV or Parquet file, or a data frame,
        with the columns row, column and count, numbered from zero; an empty one is the matrix of
        zeros. Counts above 2^31 - 1 count as that. A folder, a pattern or a list of ``.npz`` files
        is a matrix in pieces of rows, one after the other; triples in Parquet files that are sorted
        by row are read in such pieces too.
    unit : MatrixUnit
        The privacy unit.
    shape : tuple of int or None
        The public shape, which triples need, because it is never taken from the entries.
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        *,
        unit: MatrixUnit,
        shape: Shape | None = None,
        noise: NoiseSource | None = None,
    ) -> None:
        self.unit = unit
        self._given_noise = noise
        self._data = data
        pieces = npz_pieces(data)
        self._reader = None if pieces is not None else MatrixReader(data, shape)
        self._shape = None if self._reader is None else self._reader.shape
        self._parted: MatrixSource | None = None
        if pieces is not None:
            self._parted = source_of_npz(pieces, shape, unit)
        elif self._reader is not None:
            self._parted = source_of_triples(self._reader, unit)

    @cached_property
    def _counts(self) -> Any:
        if self._reader is None:
            raise DataError("A matrix in parts is read part by part.")
        return self._reader.counts(self.unit)

    @cached_property
    def _source(self) -> MatrixSource:
        return MemoryMatrix(self._counts) if self._parted is None else self._parted

    @property
    def known_shape(self) -> Shape | None:
        """The shape, as far as it is known before an entry is read."""
        if self._parted is not None:
            return self._parted.shape
        if self._shape is not None:
            return self._shape
        rows, columns = getattr(self._data, "shape", (0, 0))
        return (int(rows), int(columns)) if rows else None

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, of a data frame with a column for each of the matrix."""
        columns = getattr(self._data, "columns", None) if self._shape is None else None
        names = [] if columns is None else list(columns)
        return names if names and all(isinstance(name, str) for name in names) else None

    @property
    def n_columns(self) -> int:
        """Number of columns, which is public."""
        return self._source.shape[1]

    def private(
        self, meter: Meter, seed: np.random.SeedSequence | None
    ) -> MatrixView | ProfilesView:
        """Return the matrix behind noise; with a seed it is reproducible and NOT PRIVATE."""
        noise = noise_from(seed, self._given_noise)
        if self.unit.whole_rows:
            return ProfilesView(self._source, meter, noise)
        return MatrixView(self._source, self.unit, meter, noise)

    def check_engine(self) -> None:
        """Raise, before anything is charged, if the chosen engine cannot read the matrix."""
        current_engine().check(MemoryMatrix(None) if self._parted is None else self._parted)

    # For the caller who holds the rows: answers about single rows, which are not a release.
    def labels(self, column_weights: Floats) -> NDArray[np.intp]:
        """Return the group of each row whose weights of the columns speak most for it.

        Where whole rows are protected, the square roots of the entries are weighed.
        """
        return np.concatenate([*self.label_parts(column_weights)])

    def label_parts(self, column_weights: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the labels as :meth:`labels` gives them, while the matrix is read."""
        if len(column_weights) != self.n_columns:
            raise DataError(
                f"The matrix has {self.n_columns} columns where {len(column_weights)} were "
                "fitted; give a matrix with the same columns."
            )
        weights = column_weights * float(self.unit.step)
        of = kernels.HeaviestGroup(weights, self.unit.whole_rows)
        rows = engine_for(self._source).open(self._source, self._source.encoder)
        for stacked in rows.each(of):
            yield from stacked.parts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source_closed()

    def _source_closed(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._parted is not None:
            self._parted.close()
