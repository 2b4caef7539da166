"""The door for rows seen as points: declared bounds and categories in, noisy answers out."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from privclust._typing import Floats
from privclust.data.door import Door, OpenedRows
from privclust.data.points.mixed import Region as Region
from privclust.data.points.mixed import region_of as region_of
from privclust.data.points.view import PointsView
from privclust.data.rows import Block
from privclust.data.table.as_points import BinCoder
from privclust.data.table.cut import CutCoder
from privclust.data.table.public import CellGroups, Cut, check_cells
from privclust.data.table.view import TableView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema.schema import Schema


class PointRows(Door):
    """Opened rows of numbers and categories.

    ``rescale``: whether distances are measured in units of the declared widths. ``noise``: used
    instead of the system's noise; for tests.
    """

    def __init__(
        self,
        opened: OpenedRows,
        *,
        rescale: bool = False,
        gap: float | None = None,
        noise: NoiseSource | None = None,
    ) -> None:
        super().__init__(opened, noise=noise)
        self._rescale = rescale
        self.domain = region_of(self.schema, rescale=rescale, gap=gap)

    def within(self, schema: Schema, *, gap: float | None) -> Self:
        """Return a door to the same rows under other weights or bounds of the same columns.

        ``schema``: made of public facts and released numbers, like every argument of a question.
        """
        other = copy(self)
        other.schema = schema
        other.domain = region_of(schema, rescale=self._rescale, gap=gap)
        return other

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> PointsView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return PointsView(
            self._rows_that_count(seed), self.domain, self.unit, meter, self._noise(seed)
        )

    def table(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows as rows of categories behind noise, numbers in bins."""
        coder = BinCoder(self.schema)
        return TableView(self._rows_that_count(seed), coder, self.unit, meter, self._noise(seed))

    def cut(
        self,
        meter: Meter,
        seed: np.random.SeedSequence | None,
        cuts: Sequence[Cut],
        pairs: Sequence[tuple[int, int]] = (),
        groups: Sequence[CellGroups] = (),
    ) -> TableView:
        """Return the rows as codes of public cuts and groups behind noise."""
        rows, coder = self._rows_that_count(seed), CutCoder(self.domain, tuple(cuts), tuple(groups))
        return TableView(rows, coder, self.unit, meter, self._noise(seed), pairs)

    def check_table(self) -> None:
        """Raise if the tables of all pairs of columns would not fit into memory."""
        check_cells(BinCoder(self.schema))
