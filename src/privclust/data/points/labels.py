"""The nearest public centre of each row, for whoever holds the rows; not a release."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.data.engines.base import Stacked
from privclust.data.points.mixed import Region
from privclust.data.reading import Block
from privclust.data.table.binned import EmbeddedRegion

__all__ = ["NearestCentre"]


@dataclass(frozen=True)
class NearestCentre:
    """The index of the nearest centre of each row, in the units of the data."""

    domain: Region | EmbeddedRegion
    centres: Floats

    def __call__(self, block: Block) -> Stacked:
        """Return the labels of a block."""
        return Stacked((self.domain.squares(block, self.centres, up_to_row=True).argmin(axis=1),))
