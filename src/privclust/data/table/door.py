"""The door for categorical rows: declared categories in, noisy answers out.

Opening looks at column names and types, never at rows, so it may precede the charge to a ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privclust.data.contribution import bounded
from privclust.data.encode import Domain, Floats
from privclust.data.points.view import PointsView
from privclust.data.reading import Block, RowReader, open_rows
from privclust.data.table.codes import CategoryCoder, Codes, schema_of_dtypes
from privclust.data.table.public import check_cells
from privclust.data.table.view import TableView
from privclust.exceptions import DataError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, NoiseSource, SeededBits
from privclust.schema import Fact, Kind, Schema
from privclust.unit import AddRemoveRow, Person, ReplaceRow, Unit

__all__ = ["Embedding", "TableRows", "schema_for", "schema_of_dtypes"]


class Embedding:
    """Public points for the values of every attribute; a row becomes the sum of its points.

    Parameters
    ----------
    points : sequence of ndarray, each of shape (n_values, dimension)
        One array per attribute.
    """

    def __init__(self, points: Sequence[Floats]) -> None:
        self.points = [np.ascontiguousarray(part, np.float64) for part in points]
        self.dimension = int(self.points[0].shape[1])

    def rows(self, codes: Codes) -> Floats:
        """Return the points of rows; each is computed from its own codes in a fixed order."""
        total = np.zeros((len(codes), self.dimension))
        for column, part in zip(codes.T, self.points, strict=True):
            total += part[column]
        return total

    def domain(self, radius: float) -> Domain:
        """Return the region that rows are clipped to: the bounds of all rows, within a ball."""
        low = sum((part.min(axis=0) for part in self.points), np.zeros(self.dimension))
        high = sum((part.max(axis=0) for part in self.points), np.zeros(self.dimension))
        low, high = np.minimum(low, 0) - 1e-9, np.maximum(high, 0) + 1e-9
        names = tuple(f"axis {axis}" for axis in range(self.dimension))
        ones, zeros = np.ones(self.dimension), np.zeros(self.dimension)
        return Domain(names, low, high, ones, zeros, radius, zeros, within_ball=True)


class TableRows:
    """Categorical rows of a caller, opened under a schema.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads
    schema : Schema, fact, or sequence of facts
        The declared categories: of named columns, of every column alike, or column by column.
    unit : Unit or None
        The privacy unit.
    ignore : sequence of str or None
        Columns of the data that need not be declared and are not read; ``None`` allows any.
    """

    def __init__(
        self,
        data: Any,
        schema: Schema | Fact | Sequence[Fact],
        *,
        unit: Unit | None = None,
        ignore: Sequence[str] | None = (),
    ) -> None:
        self.unit: Unit = AddRemoveRow() if unit is None else unit
        if not isinstance(self.unit, (AddRemoveRow, ReplaceRow, Person)):
            raise ValueError(
                f"The unit {self.unit.name!r} is none of a table of rows; use "
                '"add-remove-row", "replace-row" or Person(id_column, max_rows).'
            )
        names = schema.names if isinstance(schema, Schema) else None
        id_column = self.unit.id_column if isinstance(self.unit, Person) else None
        self._source = open_rows(data, names, id_column=id_column, ignore=ignore)
        try:
            self.schema = schema_for(schema, self._source.selection.names)
            self.coder = CategoryCoder(self.schema)
            check_cells(self.coder)
        except ValueError:
            self._source.close()
            raise
        self._bounded = self._source
        self._noise: NoiseSource | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self._source.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._source.n_columns

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        self._noise = ExactNoise() if seed is None else ExactNoise(SeededBits(seed))
        self._bounded = bounded(self._source, self.unit, self.coder.codes, seed)
        return TableView(self._bounded, self.coder, self.unit, meter, self._noise)

    def private_points(self, embedding: Embedding, radius: float, meter: Meter) -> PointsView:
        """Return the rows as points of a public embedding, behind the noise of the same fit.

        Notes
        -----
        *Why this is private.* The points of the values are public, so each row becomes a point by
        itself; everything else is :class:`PointsView`.
        """
        if self._noise is None:
            raise RuntimeError("Ask for the private table first; it brings the noise.")
        source = _EmbeddedRows(self._bounded, self.coder, embedding)
        return PointsView(source, embedding.domain(radius), self.unit, meter, self._noise)

    # For the caller who holds the rows: answers about single rows, which are no release.
    def codes(self) -> Codes:
        """Return the codes of all rows."""
        return np.concatenate([self.coder.codes(block) for block in self._source.blocks()])

    def coordinates(self, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return for each row the coordinates of its values, column after column.

        Parameters
        ----------
        tables : sequence of (int, ndarray of shape (n_values, n_axes))
            The number of a column, and the public coordinates of its values.
        """
        blocks = (self.coder.codes(block) for block in self._source.blocks())
        parts = [
            np.concatenate([table[codes[:, column]] for column, table in tables], axis=1)
            for codes in blocks
        ]
        return np.concatenate(parts)

    def label_parts(self, embedding: Embedding, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row in a public embedding, while the rows are read."""
        halves = (centres**2).sum(axis=1) / 2
        for block in self._source.blocks():
            points = embedding.rows(self.coder.codes(block))
            yield (halves - points @ centres.T).argmin(axis=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bounded.close()
        self._source.close()


def schema_for(declared: Schema | Fact | Sequence[Fact], names: Sequence[str]) -> Schema:
    """Return the schema of columns that are declared all alike, or one by one in their order."""
    if isinstance(declared, Schema):
        return declared
    facts = list(declared) if isinstance(declared, Sequence) else [declared] * len(names)
    if len(facts) != len(names):
        raise DataError(
            f"The data have {len(names)} columns but the schema declares {len(facts)}; "
            "give the declared columns in order."
        )
    return Schema(zip(names, facts, strict=True))


class _EmbeddedBlock(Block):
    """A block of categorical rows, seen as points."""

    def __init__(self, block: Block, coder: CategoryCoder, embedding: Embedding) -> None:
        self.names = tuple(f"axis {axis}" for axis in range(embedding.dimension))
        self.n_rows = block.n_rows
        self._block, self._coder, self._embedding = block, coder, embedding

    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        return self._embedding.rows(self._coder.codes(self._block))

    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        raise NotImplementedError("Points have no categories.")

    def keep(self, mask: NDArray[np.bool_]) -> Block:
        return _EmbeddedBlock(self._block.keep(mask), self._coder, self._embedding)


class _EmbeddedRows(RowReader):
    """The rows of another source as points; blocks are coded anew in each pass."""

    def __init__(self, source: RowReader, coder: CategoryCoder, embedding: Embedding) -> None:
        super().__init__(source.selection, block_rows=source.block_rows)
        self._source, self._coder, self._embedding = source, coder, embedding

    def _blocks(self) -> Iterator[Block]:
        for block in self._source.blocks():
            yield _EmbeddedBlock(block, self._coder, self._embedding)
