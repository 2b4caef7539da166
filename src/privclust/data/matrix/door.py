"""The door for matrices of counts: they come in here, and only noisy answers go out.

A matrix is kept sparse, as exact int64 counts.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from privclust.data.door import noise_source
from privclust.data.matrix.rows import MatrixSource
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit.matrix import MatrixUnit

Shape = tuple[int, int]


class OpenedCounts(Protocol):
    """What the door takes: counts that are not read until a question is asked, and the unit."""

    @property
    def source(self) -> MatrixSource: ...

    @property
    def known_shape(self) -> Shape | None: ...

    @property
    def unit(self) -> MatrixUnit: ...


class CountMatrix:
    """An opened matrix of non-negative counts behind a door.

    ``noise``: used instead of the system's noise; for tests. ``known_shape``: the shape, as far as
    it is known before an entry is read.
    """

    def __init__(self, opened: OpenedCounts, *, noise: NoiseSource | None = None) -> None:
        self.unit, self.known_shape = opened.unit, opened.known_shape
        self._opened, self._given_noise = opened, noise

    def private(
        self, meter: Meter, seed: np.random.SeedSequence | None
    ) -> MatrixView | ProfilesView:
        """Return the matrix behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        noise = noise_source(seed, self._given_noise)
        if self.unit.whole_rows:
            return ProfilesView(self._opened.source, meter, noise)
        return MatrixView(self._opened.source, self.unit, meter, noise)
