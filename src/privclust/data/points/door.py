"""The door for rows seen as points: declared bounds and categories in, noisy answers out.

What the caller may ask about single rows that the caller holds, their labels and distances to
public centres, is here too: it is not noisy, is not a release, and goes back to whoever brought the
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.door import Door
from privclust.data.points.labels import NearestCentre
from privclust.data.points.mixed import Region, region_of
from privclust.data.points.view import PointsView
from privclust.data.reading import Block, open_rows
from privclust.data.table.binned import BinnedCoder, EmbeddedRegion
from privclust.data.table.public import ValuePoints, check_cells
from privclust.data.table.view import TableView
from privclust.exceptions import SchemaError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PointRows", "public_rows", "region_of", "schema_from_bounds"]

Bounds = tuple[Any, Any]


class PointRows(Door):
    """Rows of a caller, of numbers and categories, opened under a schema.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads
    schema : Schema or None
        What is declared about the columns.
    bounds : tuple of (low, high) or None
        The short form: one pair of bounds for all columns, or one bound per column.
    unit : Unit or None
        The privacy unit.
    rescale : bool
        Whether distances are measured in units of the declared widths.
    ignore : sequence of str or None
        Columns of the data that need not be declared and are not read; ``None`` allows any.
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        *,
        schema: Schema | None = None,
        bounds: Bounds | None = None,
        unit: Unit | None = None,
        rescale: bool = False,
        ignore: Sequence[str] | None = (),
        noise: NoiseSource | None = None,
    ) -> None:
        if schema is not None:  # a schema that cannot be used is refused before anything is opened
            region_of(schema, rescale=rescale)
        super().__init__(
            data,
            schema,
            short_form=lambda rows: schema_from_bounds(bounds, rows.names, rows.n_columns),
            unit=unit,
            ignore=ignore,
            noise=noise,
        )
        with self._closed_on_error():
            self.rescale = rescale
            self.domain = region_of(self.schema, rescale=rescale)
            self._seen: Region | EmbeddedRegion = self.domain

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> PointsView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return PointsView(self._counted(seed), self.domain, self.unit, meter, self._noise(seed))

    def table(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows as rows of categories behind noise, numbers in bins."""
        coder = BinnedCoder(self.schema)
        return TableView(self._counted(seed), coder, self.unit, meter, self._noise(seed))

    def check_table(self) -> None:
        """Raise if the tables of all pairs of columns would not fit into memory."""
        check_cells(BinnedCoder(self.schema))

    def see_as(self, values: Floats) -> None:
        """Measure distances between points of a public embedding from now on.

        Parameters
        ----------
        values : ndarray of shape (n_values, n_axes)
            The points of the values of all columns, numbers in bins, one column after another.
        """
        coder = BinnedCoder(self.schema)
        if len(values) != sum(coder.sizes):
            raise SchemaError(
                f"There are points for {len(values)} values where the schema declares "
                f"{sum(coder.sizes)}, numbers in bins; give one for each."
            )
        ends = np.cumsum(coder.sizes)[:-1]
        self._seen = EmbeddedRegion(coder, ValuePoints(np.split(values, ends)))

    # For the caller who holds the rows: answers about single rows, which are not a release.
    def labels(self, centres: Floats) -> NDArray[np.intp]:
        """Return the nearest centre of each row."""
        return np.concatenate([*self.label_parts(centres)])

    def label_parts(self, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row, while the rows are read."""
        return self._each(NearestCentre(self._seen, centres))

    def distances(self, centres: Floats) -> Floats:
        """Return the distance of each row to each centre."""
        return np.concatenate([np.sqrt(squares) for squares in self._squares(centres)])

    def inertia(self, centres: Floats) -> float:
        """Return the sum of squared distances of the rows to their nearest centre."""
        return float(sum(squares.min(axis=1).sum() for squares in self._squares(centres)))

    def _squares(self, centres: Floats) -> Iterator[Floats]:
        for block in self._rows.blocks():
            yield self._seen.squares(block, centres)


def public_rows(data: Any, columns: Sequence[str]) -> Iterator[Floats]:
    """Read columns of PUBLIC rows as numbers, block by block; columns not asked for are ignored.

    They pass the door untouched. Never for rows of people: see :class:`PointRows`.
    """
    with open_rows(data, columns, ignore=None) as source:
        for block in source.blocks():
            yield block.numbers()


def schema_from_bounds(
    bounds: Bounds | None, names: tuple[str, ...] | None, n_columns: int | None
) -> Schema:
    """Return the schema that the short form ``bounds=(low, high)`` stands for."""
    return Schema.of(None, bounds=bounds, names=names, n_columns=n_columns)
