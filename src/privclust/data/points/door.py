"""The door: data come in here, described by public facts, and only noisy answers go out.

Opening looks at column names and types, never at rows, so it may precede the charge to a ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privclust.data.contribution import bounded
from privclust.data.encode import Domain, Floats
from privclust.data.points import apply
from privclust.data.points.view import PointsView
from privclust.data.reading import RowReader, open_rows
from privclust.exceptions import SchemaError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.schema import Schema
from privclust.unit import AddRemoveRow, Person, Unit

__all__ = ["PointRows", "public_rows", "schema_from_bounds"]

Bounds = tuple[Any, Any]


class PointRows:
    """Numeric rows of a caller, opened under a schema.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads
    schema : Schema or None
        What is declared about the columns.
    bounds : tuple of (low, high) or None
        The short form: one pair of bounds for all columns, or one bound per column.
    unit : Unit
        The privacy unit.
    rescale : bool
        Whether distances are measured in units of the declared widths.
    ignore : sequence of str or None
        Columns of the data that need not be declared and are not read; ``None`` allows any.
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
    ) -> None:
        self.unit: Unit = AddRemoveRow() if unit is None else unit
        id_column = self.unit.id_column if isinstance(self.unit, Person) else None
        columns = None if schema is None else schema.names
        self._source: RowReader = open_rows(data, columns, id_column=id_column, ignore=ignore)
        self.schema = schema or schema_from_bounds(
            bounds, self._source.names, self._source.n_columns
        )
        self.domain = Domain.from_schema(self.schema, rescale=rescale)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, from the schema or the data, if either has any."""
        return self._source.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._source.n_columns

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> PointsView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        noise = ExactNoise() if seed is None else ExactNoise(SeededBits(seed))
        rows = bounded(self._source, self.unit, self.domain.rows, seed)
        return PointsView(rows, self.domain, self.unit, meter, noise)

    # For the caller who holds the rows: answers about single rows, which are no release.
    def labels(self, centres: Floats) -> NDArray[np.intp]:
        """Return the nearest centre of each row."""
        return np.concatenate([*self.label_parts(centres)])

    def label_parts(self, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row, while the rows are read."""
        return apply.nearest_labels(self._source, self.domain, centres)

    def distances(self, centres: Floats) -> Floats:
        """Return the distance of each row to each centre."""
        return apply.distances_to(self._source, self.domain, centres)

    def inertia(self, centres: Floats) -> float:
        """Return the sum of squared distances of the rows to their nearest centre."""
        return apply.squared_distance_sum(self._source, self.domain, centres)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()


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
    if bounds is None:
        raise SchemaError(
            "No bounds are declared; pass bounds=(low, high) or a schema, from public knowledge "
            "and never from the data."
        )
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise SchemaError("bounds must be a pair (low, high); give two bounds.") from None
    return Schema.from_bounds(low, high, names=names, n_columns=n_columns)
