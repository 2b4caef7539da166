"""How far targets are from sources at most, for all but a stated chance, by released counts alone.

A count that noise would hardly reach in an empty bin says that a source lies in that bin, and the
bin says where: within its outer edge of some target y, and nearer to its site c than to any other.
So it is at most the edge and the distance of y from y's own site away from c, and every target is
at most its distance to c farther from a source. All of it is arithmetic on released values.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats, Indices
from privclust.data.public import Noisy
from privclust.data.sites.public import Rings
from privclust.data.view import NumberNoise
from privclust.distributions import tail
from privclust.source_target.placement import PublicCells

__all__ = ["CONFIDENCE", "distance_bounds"]

# How often a bound holds at least, over the noise; the rows may be any.
CONFIDENCE = 0.95
# Rows and targets are counted on a grid; a distance may be off by this share of the radius.
_GRID = 2.0**-16


def distance_bounds(cells: PublicCells, rings: Rings, counts: Noisy, noise: NumberNoise) -> Floats:
    """Return a bound on the distance of each target to its nearest source; infinite if none.

    ``rings``: the partition that was counted. ``counts``: one for each of its bins, the last of
    them outside. With a chance of ``CONFIDENCE`` all bounds hold at once: no empty bin has a count
    that counts here as sure, since each of them has its part of the remaining chance. Distances
    must obey the triangle inequality, as those of coordinates do.
    """
    inside = counts.value[:-1]
    # Half a count of caution: tails of Gaussian noise are those of its continuous sister.
    sure = tail(noise, inside - 0.5) <= (1 - CONFIDENCE) / max(1, len(inside))
    bounds = np.full(len(cells.space.targets), np.inf)
    for shell, sites in enumerate(rings.sites):
        first, last = rings.offsets[shell : shell + 2]
        (chosen,) = np.nonzero(sure[first:last])
        if len(chosen):
            edge = float(rings.edges[shell + 1])
            np.minimum(bounds, _shell_bounds(cells, sites, chosen, edge), out=bounds)
    return bounds + _GRID * cells.radius


def _shell_bounds(
    cells: PublicCells, sites: Floats | Indices, chosen: Indices, edge: float
) -> Floats:
    """Return the bounds that the sure bins of one shell give."""
    own = cells.own_site_distances(sites)
    bounds = np.full(len(own), np.inf)
    for number in chosen:
        away = cells.site_distances(sites, int(number))
        # Targets that a source of this bin may be the nearest source of.
        near = own[away <= 2 * edge + own]
        reach = edge + float(near.max(initial=0))
        np.minimum(bounds, away + reach, out=bounds)
    return bounds
