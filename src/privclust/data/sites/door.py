"""The door for source rows: declared bounds and public targets in, noisy answers out."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.data.door import Door, OpenedRows
from privclust.data.encode import Domain
from privclust.data.rows import Block
from privclust.data.sites.public import TargetSpace
from privclust.data.sites.view import SitesView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.schema.coordinates import refuse_weights


class SourceRows(Door):
    """Opened source rows; see :class:`Door`."""

    def __init__(self, opened: OpenedRows, *, noise: NoiseSource | None = None) -> None:
        super().__init__(opened, noise=noise)
        refuse_weights(self.schema)
        self.domain = Domain.from_schema(self.schema)

    def _content(self, block: Block) -> Floats:
        return self.domain.rows(block)

    def private(
        self, space: TargetSpace, meter: Meter, seed: np.random.SeedSequence | None
    ) -> SitesView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return SitesView(
            self._rows_that_count(seed), self.domain, space, self.unit, meter, self._noise(seed)
        )
