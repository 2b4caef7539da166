"""The door of the baselines: numeric rows, with the questions that only baselines ask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.data.baselines.kernels import loadings_of, on_factor_grid
from privclust.data.baselines.view import BaselinesView
from privclust.data.encode import Domain
from privclust.data.points.door import PointRows
from privclust.exceptions import SchemaError
from privclust.privacy.meter import Meter

__all__ = ["BaselineRows", "NonNegativeRows"]


class BaselineRows(PointRows):
    """Numeric rows of a caller, opened under a schema; see :class:`PointRows`."""

    def private(self, meter: Meter, seed: np.random.SeedSequence | None) -> BaselinesView:
        """Return the rows behind noise; with a seed the noise is reproducible and NOT PRIVATE."""
        return BaselinesView(self._counted(seed), self.domain, self.unit, meter, self._noise(seed))


class NonNegativeRows(BaselineRows):
    """Rows of non-negative numbers, clipped to a ball around the origin instead of the box alone.

    Parameters
    ----------
    data
        See :class:`PointRows`.
    radius : float or None
        The length to which rows are shortened; by default that of the far corner of the bounds.
    **options
        See :class:`PointRows`.
    """

    def __init__(self, data: Any, *, radius: float | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        with self._closed_on_error():
            domain = self.domain
            if not isinstance(domain, Domain) or (domain.low < 0).any():
                raise SchemaError(
                    "A non-negative factorisation needs numbers of at least zero; declare them so."
                )
            far = float(np.linalg.norm(domain.high / domain.widths))
            self.domain = self._around_origin = replace(
                domain,
                center=np.zeros(domain.dimension),
                radius=far if radius is None else min(float(radius), far),
                within_ball=True,
            )

    # For the caller who holds the rows: answers about single rows, which are not a release.
    def loadings(self, components: Floats) -> Floats:
        """Return the non-negative loadings of each row on components of length one."""
        parts = []
        for block in self._rows.blocks():
            grid = self._around_origin.to_grid(self._around_origin.rows(block))
            parts.append(loadings_of(on_factor_grid(grid), components))
        return np.concatenate(parts)
