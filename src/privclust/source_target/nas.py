"""NAS, Algorithm 1 of the paper: each public site asks for the average of its nearest sources.

All sites of the coreset ask at once, as one joint query, and t is public: where there are fewer
sources than t, the site itself stands in for the missing ones, so that no number of sources makes
the query more sensitive. Such averages say that there is a source where there is none, so the
number of sources is asked for as well, and with fewer than t of them the averages are not used.
"""

from __future__ import annotations

import numpy as np

from privclust.budget import Share
from privclust.data.sites.view import SitesView
from privclust.notes import Note
from privclust.source_target.nna import NearestSettings
from privclust.source_target.sanitised import Sanitised, base_from_points
from privclust.source_target.sites import covering_sites

__all__ = ["ask_nas"]

_NUMBER_SHARE = 0.05


def ask_nas(view: SitesView, budget: Share, settings: NearestSettings) -> Sanitised:
    """Sanitise the source within ``budget``."""
    space, n_nearest = view.space, settings.n_nearest
    radius = settings.radius * space.radius
    sites = covering_sites(space.targets, radius, settings.coreset, few=True)
    spread = None
    if settings.spread_share is not None:
        for_spread = budget.take(settings.spread_share)
        budget = budget.remainder(for_spread)
        spread = view.ask_nearest_distance("distance to sources", sites, n_nearest, for_spread)
    for_number, for_averages = budget.split([_NUMBER_SHARE, 1 - _NUMBER_SHARE])
    counted = view.ask_count("number of sources", for_number)
    number = float(counted.value[0])
    answer = view.ask_nearest_averages(
        "averages of nearest sources", sites, n_nearest, for_averages
    )
    enough = number >= n_nearest
    points = space.centre + answer.value if enough else np.empty((0, space.dimension))
    nothing = np.full(len(points), np.nan)
    return Sanitised(
        points,
        nothing,
        np.nan,
        np.column_stack([nothing, nothing]),
        base_from_points(space, points)[None],
        counted,
        notes=() if enough else _too_few(number, n_nearest),
        spread=spread,
    )


def _too_few(number: float, n_nearest: int) -> tuple[Note, ...]:
    text = (
        f"There are about {max(number, 0):.0f} sources, fewer than the {n_nearest} to average, so "
        "the centres are those of the targets alone; lower n_nearest or raise epsilon."
    )
    return (Note("rows-unseen", text),)
