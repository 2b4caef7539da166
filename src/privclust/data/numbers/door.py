"""The door for columns of unknown range: forms of columns in, noisy counts out."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.data.door import Door, OpenedRows
from privclust.data.encode import writings_of
from privclust.data.numbers.kernels import FiniteNumbers
from privclust.data.numbers.view import NumbersView
from privclust.data.rows import Block
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource


class NumberRows(Door):
    """Opened columns of numbers, without bounds.

    ``total``: whether a value that is not of its form is treated as missing instead of refused.
    ``noise``: used instead of the system's noise; for tests.
    """

    def __init__(
        self, opened: OpenedRows, *, total: bool = False, noise: NoiseSource | None = None
    ) -> None:
        super().__init__(opened, noise=noise)
        names = self.schema.names
        lenient = names if total else ()
        self._numbers = FiniteNumbers(len(names), lenient, writings_of(self.schema))

    def _content(self, block: Block) -> Floats:
        return self._numbers.rows(block)

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> NumbersView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        rows, noise = self._rows_that_count(seed), self._noise(seed)
        return NumbersView(rows, self._numbers, self.unit, meter, noise)
