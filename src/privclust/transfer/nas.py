"""NAS, Algorithm 1 of the paper: each public site asks for the average of its nearest sources.

All sites of the coreset ask at once, as one joint query, and t is public: where there are fewer
sources than t the site itself stands for those that lack, so that no number of sources makes the
query more sensitive.
"""

from __future__ import annotations

import numpy as np

from privclust.budget import Share
from privclust.data.nearest_targets import PrivateSources
from privclust.transfer.sanitised import Sanitised, base_from_points
from privclust.transfer.sites import coreset

__all__ = ["nas"]


def nas(view: PrivateSources, budget: Share, reach: float, n_nearest: int) -> Sanitised:
    """Sanitise the source within ``budget``; ``reach`` is that of the coreset, in radii."""
    space = view.space
    sites = space.targets[coreset(space.targets, reach * space.radius)]
    answer = view.nearest_averages("averages of nearest sources", sites, n_nearest, budget)
    points = space.centre + answer.value
    nothing = np.full(len(points), np.nan)
    return Sanitised(
        points,
        nothing,
        np.nan,
        np.column_stack([nothing, nothing]),
        base_from_points(space, points)[None],
    )
