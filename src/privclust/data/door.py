"""What the doors share: the unit, the rows that count, and the source of noise.

A door takes rows that were opened under public facts and returns views, which release noisy
answers. It answers nothing about rows itself; a test lists everything it exposes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privclust.data.people import limit_rows_per_person
from privclust.data.rows import Block, RowSource
from privclust.privacy.noise import NoiseSource
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit
from privclust.unit.rows import RowUnit


class OpenedRows(Protocol):
    """What a door takes: rows, what is declared about their columns, and the privacy unit."""

    @property
    def rows(self) -> RowSource: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def unit(self) -> Unit: ...


def noise_source(
    seed: np.random.SeedSequence | None, given: NoiseSource | None = None
) -> NoiseSource:
    """Return where the noise of a view comes from: the system, unless there is a seed.

    ``seed``: makes the noise reproducible, and NOT PRIVATE.
    """
    if given is not None:
        return given
    return ExactNoise() if seed is None else ExactNoise(SeededBits(seed))


class Door:
    """Opened rows behind a door; they are read when a view first asks.

    ``noise``: used instead of the system's noise; for tests.
    """

    def __init__(self, opened: OpenedRows, *, noise: NoiseSource | None = None) -> None:
        self.schema = opened.schema
        self.unit: RowUnit = row_unit(opened.unit)
        self._rows, self._given_noise = opened.rows, noise
        self._rows.declare_count(self.unit.n_rows)

    def _content(self, block: Block) -> NDArray[Any]:
        """Return what a view sees of the rows of a block; see :func:`bounded`."""
        raise NotImplementedError

    def _rows_that_count(self, seed: np.random.SeedSequence | None) -> RowSource:
        """Return the rows that count under the unit."""
        return limit_rows_per_person(self._rows, self.unit, self._content, seed)

    def _noise(self, seed: np.random.SeedSequence | None) -> NoiseSource:
        return noise_source(seed, self._given_noise)
