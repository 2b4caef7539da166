"""The door for numeric rows: declared bounds in, noisy answers out.

What the caller may ask about single rows that the caller holds, their labels and distances to
public centres, is here too: it is not noisy, no release, and goes back to whoever brought the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.door import Door
from privclust.data.encode import Domain
from privclust.data.points.view import PointsView
from privclust.data.reading import Block, RowReader, open_rows
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PointRows", "public_rows", "schema_from_bounds"]

Bounds = tuple[Any, Any]


class PointRows(Door):
    """Numeric rows of a caller, opened under a schema.

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
        In the place of the system's noise; for tests.
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
        if schema is not None:  # a schema that cannot be used is told before anything is opened
            Domain.from_schema(schema, rescale=rescale)
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
            self.domain = Domain.from_schema(self.schema, rescale=rescale)

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> PointsView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return PointsView(self._counted(seed), self.domain, self.unit, meter, self._noise(seed))

    # For the caller who holds the rows: answers about single rows, which are no release.
    def labels(self, centres: Floats) -> NDArray[np.intp]:
        """Return the nearest centre of each row."""
        return np.concatenate([*self.label_parts(centres)])

    def label_parts(self, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row, while the rows are read."""
        return _nearest_labels(self._rows, self.domain, centres)

    def distances(self, centres: Floats) -> Floats:
        """Return the distance of each row to each centre."""
        return _distances_to(self._rows, self.domain, centres)

    def inertia(self, centres: Floats) -> float:
        """Return the sum of squared distances of the rows to their nearest centre."""
        return _squared_distance_sum(self._rows, self.domain, centres)


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


def _distances_to(source: RowReader, domain: Domain, centres: Floats) -> Floats:
    """Return the distance of each row to each centre, in the units of the data."""
    return np.concatenate([np.sqrt(squares) for squares in _squares(source, domain, centres)])


def _nearest_labels(
    source: RowReader, domain: Domain, centres: Floats
) -> Iterator[NDArray[np.intp]]:
    """Yield the index of the nearest centre of each row, block by block."""
    for _, gaps in _gaps(source, domain, centres):
        yield gaps.argmin(axis=1)


def _squared_distance_sum(source: RowReader, domain: Domain, centres: Floats) -> float:
    """Return the sum over the rows of the squared distance to the nearest centre."""
    return float(sum(squares.min(axis=1).sum() for squares in _squares(source, domain, centres)))


def _squares(source: RowReader, domain: Domain, centres: Floats) -> Iterator[Floats]:
    """Yield the squared distances of blocks of rows, as the model measures them."""
    for rows, gaps in _gaps(source, domain, centres):
        gaps += (rows**2).sum(axis=1)[:, None]
        yield np.maximum(gaps, 0)


def _gaps(source: RowReader, domain: Domain, centres: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield blocks of rows, and their squared distances less the squared length of the row.

    The length is the same for all centres, and for a row far out it would drown their differences.
    """
    # Around the center of the domain, so that a large offset common to all rows costs no digits.
    targets = (centres - domain.center) / domain.widths
    for block in source.blocks():
        rows = (domain.rows(block) - domain.center) / domain.widths
        yield rows, (targets**2).sum(axis=1) - 2 * rows @ targets.T
