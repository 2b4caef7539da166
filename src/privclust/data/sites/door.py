"""The door for source rows: declared bounds and public targets in, noisy answers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from privclust._typing import Floats
from privclust.data.door import Door
from privclust.data.encode import Domain
from privclust.data.reading import Block
from privclust.data.sites.public import TargetSpace
from privclust.data.sites.view import SitesView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema import Schema
from privclust.schema.coordinates import refuse_weights
from privclust.unit import Unit, row_unit

__all__ = ["SourceRows"]


class SourceRows(Door):
    """Source rows of a caller, opened under a schema; no row is read yet.

    Parameters
    ----------
    data : anything that :func:`privclust.data.reading.open_rows` reads, or None
        ``None`` or an empty list stands for a source without rows.
    schema : Schema
        Declared bounds of every column, from public knowledge.
    unit : Unit
        The privacy unit.
    noise : NoiseSource or None
        Used instead of the system's noise; for tests.
    """

    def __init__(
        self, data: Any, schema: Schema, unit: Unit, *, noise: NoiseSource | None = None
    ) -> None:
        empty = data is None or (isinstance(data, list | tuple) and not data)
        rows = _no_rows(schema.names, row_unit(unit).id_column) if empty else data
        # A source without rows must look like any other, so it is not refused at the door.
        super().__init__(rows, schema, unit=unit, may_be_empty=True, noise=noise)
        with self._closed_on_error():
            refuse_weights(schema)
            self.domain = Domain.from_schema(schema)

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(
        self, space: TargetSpace, meter: Meter, seed: np.random.SeedSequence | None
    ) -> SitesView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return SitesView(
            self._counted(seed), self.domain, space, self.unit, meter, self._noise(seed)
        )


def _no_rows(names: Sequence[str], id_column: str | None) -> pa.Table:
    columns = names if id_column is None else (*names, id_column)
    return pa.table({name: pa.array([], pa.float64()) for name in columns})
