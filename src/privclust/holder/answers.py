"""What the holder of rows may ask about them: labels, distances, coordinates, loadings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Floats, Indices
from privclust.data.encode import Domain
from privclust.data.engines.base import Encoder, PerRow, current_engine
from privclust.data.engines.local import LocalEngine
from privclust.data.papers.door import around_origin
from privclust.data.papers.kernels import loadings_of, on_factor_grid
from privclust.data.points.mixed import region_of
from privclust.data.rows import PartedSource
from privclust.data.table.as_points import BinCoder
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints, check_cells
from privclust.exceptions import DataError, SchemaError
from privclust.holder.kernels import (
    CellOfGrid,
    EmbeddingDomain,
    HeaviestGroup,
    NearestCentre,
    NearestEmbeddedCentre,
    OfNumbers,
    RawBlocks,
    Seen,
    squares,
)
from privclust.opening.matrices import OpenedMatrix
from privclust.opening.rows import Opened
from privclust.schema.coordinates import refuse_weights

# Passes over rows for their holder, on the engine of the context if the rows can go there.


def each(
    source: PartedSource, encode: Encoder, of: Callable[[Any], PerRow]
) -> Iterator[NDArray[Any]]:
    """Yield what is computed from the rows, in their order, while they are read."""
    engine = current_engine() if source.stays_here is None else LocalEngine(0)
    for stacked in engine.open(source, encode).each(of):
        yield from stacked.parts


# What the holder of rows of numbers and categories may ask about them.


class OwnPoints:
    """The caller's own rows, seen as points.

    ``rescale``: whether distances are measured in units of the declared widths.
    """

    def __init__(self, opened: Opened, *, rescale: bool = False, gap: float | None = None) -> None:
        self._opened = opened
        self._seen: Seen = region_of(opened.schema, rescale=rescale, gap=gap)

    def use_value_points(self, values: Floats) -> None:
        """Measure distances between points of a public embedding from now on.

        ``values``: (n_values, n_axes), the points of the values of all columns, numbers in bins,
        one column after another.
        """
        coder = BinCoder(self._opened.schema)
        if len(values) != sum(coder.sizes):
            raise SchemaError(
                f"There are points for {len(values)} values where the schema declares "
                f"{sum(coder.sizes)}, numbers in bins; give one for each."
            )
        ends = np.cumsum(coder.sizes)[:-1]
        self._seen = EmbeddingDomain(coder, ValuePoints(np.split(values, ends)))

    def labels(self, centres: Floats) -> NDArray[np.intp]:
        """Return the nearest centre of each row."""
        return np.concatenate([*self.label_parts(centres)])

    def label_parts(self, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row, while the rows are read."""
        return each(self._opened.rows, RawBlocks(), NearestCentre(self._seen, centres))

    def cell_label_parts(
        self, cuts: tuple[Floats, ...], labels: Indices
    ) -> Iterator[NDArray[np.intp]]:
        """Yield the label of the cell of a grid that each row lies in, while the rows are read."""
        domain = Domain.from_schema(self._opened.schema)
        return each(self._opened.rows, RawBlocks(), CellOfGrid(domain, cuts, labels))

    def distances(self, centres: Floats) -> Floats:
        """Return the distance of each row to each centre."""
        return np.concatenate([np.sqrt(part) for part in self._squares(centres)])

    def inertia(self, centres: Floats) -> float:
        """Return the sum of squared distances of the rows to their nearest centre."""
        return float(sum(part.min(axis=1).sum() for part in self._squares(centres)))

    def of_each(self, of: Callable[[Floats], NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """Yield what a function of numeric rows, in the units of the data, makes of them."""
        seen = Domain.from_schema(self._opened.schema)
        return each(self._opened.rows, RawBlocks(), OfNumbers(seen, of))

    def _squares(self, centres: Floats) -> Iterator[Floats]:
        for block in self._opened.rows.blocks():
            yield squares(self._seen, block, centres)


# What the holder of a matrix of counts may ask about its rows.


class OwnMatrix:
    """The caller's own matrix."""

    def __init__(self, opened: OpenedMatrix) -> None:
        self._opened = opened

    def labels(self, column_weights: Floats) -> NDArray[np.intp]:
        """Return the group with the largest weighted sum for each row.

        Where whole rows are protected, the square roots of the entries are weighed.
        """
        return np.concatenate([*self.label_parts(column_weights)])

    def label_parts(self, column_weights: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the labels as :meth:`labels` gives them, while the matrix is read."""
        source, unit = self._opened.source, self._opened.unit
        if len(column_weights) != source.shape[1]:
            raise DataError(
                f"The matrix has {source.shape[1]} columns where {len(column_weights)} were "
                "fitted; give a matrix with the same columns."
            )
        heaviest = HeaviestGroup(column_weights * float(unit.step), unit.whole_rows)
        return each(source, source.encoder, heaviest)


# What the holder of categorical rows may ask about them.


class OwnTable:
    """The caller's own rows of categories."""

    def __init__(self, opened: Opened) -> None:
        refuse_weights(opened.schema)
        self._opened, self.coder = opened, CategoryCoder(opened.schema)
        check_cells(self.coder)

    def codes(self) -> Codes:
        """Return the codes of all rows."""
        return np.concatenate([*self._blocks()])

    def coordinates(self, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return for each row the coordinates of its values, column after column.

        ``tables``: (n_values, n_axes)), the number of a column, and the public coordinates of its
        values.
        """
        parts = [
            np.concatenate([table[codes[:, column]] for column, table in tables], axis=1)
            for codes in self._blocks()
        ]
        return np.concatenate(parts)

    def label_parts(self, embedding: ValuePoints, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row in a public embedding, while the rows are read."""
        nearest = NearestEmbeddedCentre(self.coder, embedding, centres)
        return each(self._opened.rows, RawBlocks(), nearest)

    def _blocks(self) -> Iterator[Codes]:
        return (self.coder.codes(block) for block in self._opened.rows.blocks())


# What the holder of non-negative rows may ask about a factorisation of them.


class OwnFactors:
    """The caller's own rows of non-negative numbers.

    ``radius``: the length to which rows are clipped; see :func:`around_origin`. ``rescale``:
    whether lengths are measured in units of the declared widths.
    """

    def __init__(self, opened: Opened, *, radius: float | None, rescale: bool) -> None:
        self._opened = opened
        self._domain = around_origin(region_of(opened.schema, rescale=rescale), radius)

    def loadings(self, components: Floats) -> Floats:
        """Return the non-negative loadings of each row on components of length one."""
        domain, parts = self._domain, []
        for block in self._opened.rows.blocks():
            grid = domain.to_grid(domain.rows(block))
            parts.append(loadings_of(on_factor_grid(grid), components))
        return np.concatenate(parts)
