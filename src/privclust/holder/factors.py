"""What the holder of non-negative rows may ask about a factorisation of them."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.baselines.questions.door import around_origin
from privclust.baselines.questions.kernels import loadings_of, on_factor_grid
from privclust.data.points.mixed import region_of
from privclust.opening.rows import Opened

__all__ = ["OwnFactors"]


class OwnFactors:
    """The caller's own rows of non-negative numbers.

    Parameters
    ----------
    opened : Opened
    radius : float or None
        The length to which rows are shortened; see :func:`around_origin`.
    rescale : bool
        Whether lengths are measured in units of the declared widths.
    """

    def __init__(self, opened: Opened, *, radius: float | None, rescale: bool) -> None:
        self._opened = opened
        self._domain = around_origin(region_of(opened.schema, rescale=rescale), radius)

    def loadings(self, components: Floats) -> Floats:
        """Return the non-negative loadings of each row on components of length one."""
        domain, parts = self._domain, []
        for block in self._opened.rows.blocks():
            grid = domain.to_grid(domain.rows(block))
            parts.append(loadings_of(on_factor_grid(grid), components))
        return np.concatenate(parts)
