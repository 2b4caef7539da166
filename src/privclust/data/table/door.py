"""The door for categorical rows: declared categories in, noisy answers out."""

from __future__ import annotations

import numpy as np

from privclust._typing import Codes
from privclust.data.door import Door, OpenedRows
from privclust.data.rows import Block
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import check_cells
from privclust.data.table.view import TableView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema.coordinates import refuse_weights


class TableRows(Door):
    """Opened categorical rows; see :class:`Door`."""

    def __init__(self, opened: OpenedRows, *, noise: NoiseSource | None = None) -> None:
        super().__init__(opened, noise=noise)
        refuse_weights(self.schema)
        self.coder = CategoryCoder(self.schema)
        check_cells(self.coder)

    def _content(self, block: Block) -> Codes:
        return self.coder.codes(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> TableView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return TableView(
            self._rows_that_count(seed), self.coder, self.unit, meter, self._noise(seed)
        )
