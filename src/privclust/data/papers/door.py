"""The door for papers and rivals: rows as points, with the questions that only they ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privclust.data.door import OpenedRows
from privclust.data.encode import Domain
from privclust.data.papers.view import PapersView
from privclust.data.points.door import PointRows, Region
from privclust.exceptions import SchemaError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource


class PaperRows(PointRows):
    """Opened rows; see :class:`PointRows`."""

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> PapersView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return PapersView(
            self._rows_that_count(seed), self.domain, self.unit, meter, self._noise(seed)
        )


class NonNegativeRows(PaperRows):
    """Rows of non-negative numbers, clipped to a ball around the origin, not only to the box."""

    def __init__(
        self,
        opened: OpenedRows,
        *,
        radius: float | None = None,
        rescale: bool = False,
        noise: NoiseSource | None = None,
    ) -> None:
        super().__init__(opened, rescale=rescale, noise=noise)
        self.domain = around_origin(self.domain, radius)


def around_origin(domain: Region, radius: float | None) -> Domain:
    """Return a domain of non-negative numbers with its ball around the origin.

    ``radius``: the length to which rows are shortened; by default that of the far corner of the
    bounds.
    """
    if not isinstance(domain, Domain) or (domain.low < 0).any():
        raise SchemaError(
            "A non-negative factorisation needs numbers of at least zero; declare them so."
        )
    far = float(np.linalg.norm(domain.high / domain.widths))
    return replace(
        domain,
        center=np.zeros(domain.dimension),
        radius=far if radius is None else min(float(radius), far),
        within_ball=True,
    )
