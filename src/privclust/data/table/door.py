"""The door for categorical rows: declared categories in, noisy answers out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Floats
from privclust.data.door import Door
from privclust.data.reading import Block
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.embedded import NearestEmbeddedCentre
from privclust.data.table.public import ValuePoints, check_cells
from privclust.data.table.view import TableView
from privclust.exceptions import DataError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema import Fact, Schema
from privclust.schema.coordinates import refuse_weights
from privclust.unit import Unit

__all__ = [
    "TableRows",
    "schema_for",
]


class TableRows(Door):
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
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        schema: Schema | Fact | Sequence[Fact],
        *,
        unit: Unit | None = None,
        ignore: Sequence[str] | None = (),
        noise: NoiseSource | None = None,
    ) -> None:
        super().__init__(
            data,
            schema if isinstance(schema, Schema) else None,
            short_form=lambda rows: schema_for(schema, rows.selection.names),
            unit=unit,
            ignore=ignore,
            noise=noise,
        )
        with self._closed_on_error():
            refuse_weights(self.schema)
            self.coder = CategoryCoder(self.schema)
            check_cells(self.coder)

    def _content(self, block: Block) -> Codes:
        return self.coder.codes(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return TableView(self._counted(seed), self.coder, self.unit, meter, self._noise(seed))

    # For the caller who holds the rows: answers about single rows, which are not a release.
    def codes(self) -> Codes:
        """Return the codes of all rows."""
        return np.concatenate([self.coder.codes(block) for block in self._rows.blocks()])

    def coordinates(self, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return for each row the coordinates of its values, column after column.

        Parameters
        ----------
        tables : sequence of (int, ndarray of shape (n_values, n_axes))
            The number of a column, and the public coordinates of its values.
        """
        blocks = (self.coder.codes(block) for block in self._rows.blocks())
        parts = [
            np.concatenate([table[codes[:, column]] for column, table in tables], axis=1)
            for codes in blocks
        ]
        return np.concatenate(parts)

    def label_parts(self, embedding: ValuePoints, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row in a public embedding, while the rows are read."""
        return self._each(NearestEmbeddedCentre(self.coder, embedding, centres))


def schema_for(declared: Schema | Fact | Sequence[Fact], names: Sequence[str]) -> Schema:
    """Return the schema of columns that are declared all alike, or one by one in their order."""
    if isinstance(declared, (list, tuple)) and len(declared) != len(names):
        raise DataError(
            f"The data have {len(names)} columns but the schema declares {len(declared)}; "
            "give the declared columns in order."
        )
    return Schema.of(declared, names=names)
