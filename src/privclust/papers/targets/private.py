"""NAS and NNA of Schnapp and Sabato (2025), Algorithms 1 and 2, private as repaired.

Sites are a coreset of the targets. Each one asks for the number and the sum of its sources; where
the noisy number is large enough, sum over number becomes a point of the sanitised source. Three
things differ from the paper: the noise has the constants of ``proofs/source-target.md``; the
threshold hardly ever lets an empty cell through; and a released point that noise threw out of
its own cell is pulled back to the border, where it would lie without noise.

All sites of the coreset ask at once, as one joint query, and t is public: where there are fewer
sources than t, the site itself stands in for the missing ones, so that no number of sources makes
the query more sensitive. Such averages say that there is a source where there is none, so the
number of sources is asked for as well, and with fewer than t of them the averages are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.sites.view import SitesView
from privclust.data.view import Noisy
from privclust.distributions import quantile
from privclust.notes import Note
from privclust.source_target.noisy_source import Sanitised, base_from_points, nothing_found
from privclust.source_target.placement import covering_sites, nearest_site

# NNA, Algorithm 2 of the paper: count and average the sources nearest to each public site.

_HALVINGS = 8
# No empty cell passes more often: half of all noise is below zero.
_LIKELIEST = 0.49


def ask_nna(view: SitesView, budget: Share, settings: NearestSettings) -> Sanitised:
    """Sanitise the source within ``budget``."""
    space = view.space
    radius = settings.radius * space.radius
    sites = covering_sites(space.targets, radius, settings.coreset, few=False)
    for_counts, for_sums = budget.split([settings.counts_share, 1 - settings.counts_share])
    answer = view.ask_cells("cells of the coreset", sites, counts=for_counts, sums=for_sums)
    chance = min(settings.false_cells / len(sites), _LIKELIEST)
    threshold = max(1.0, quantile(view.count_noise(for_counts), chance))
    (live,) = np.nonzero(answer.counts.value >= threshold)
    averages = space.centre + answer.sums.value[live] / answer.counts.value[live, None]
    points = averages
    if settings.pull:
        points = pulled_into_cells(averages, live, sites, space.order)
    return Sanitised(
        points,
        answer.counts.value[live],
        answer.counts.standard_error,
        np.full((len(live), 2), np.nan),
        base_from_points(space, points)[None],
        Noisy(answer.counts.value[live], answer.counts.standard_error),
        notes=nothing_found(len(live)),
    )


def pulled_into_cells(points: Floats, cells: NDArray[np.intp], sites: Floats, order: int) -> Floats:
    """Move points towards the sites of their cells, as far as needed to lie in them."""
    if not len(points):
        return points
    own = sites[cells]
    within = nearest_site(points, sites, order) == cells
    low, high = np.where(within, 1.0, 0.0), np.ones(len(points))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = nearest_site(own + middle[:, None] * (points - own), sites, order) == cells
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    factors = np.where(within, 1.0, low)
    return np.asarray(own + factors[:, None] * (points - own))


@dataclass(frozen=True)
class NearestSettings:
    """Settings of ``"nna"`` and ``"nas"``; the defaults are those of the estimator.

    Attributes
    ----------
    radius : float
        How far a target may lie from the coreset, in radii of the targets.
    coreset : {"auto", "halving", "net"} or None
        How the coreset is made; None for none.
    n_nearest : int
        t of NAS: how many sources each site averages.
    spread_share : float or None
        What NAS pays for Δ_t(S), if it is wanted.
    counts_share : float
        What NNA pays for counts; sums get the rest.
    false_cells : float
        How many empty cells NNA may take for occupied on average; the paper's γ is about that of
        one cell.
    pull : bool
        Whether NNA pulls a point that noise threw out of its cell back to its border.
    """

    radius: float = 0.1
    coreset: str | None = "auto"
    n_nearest: int = 150
    spread_share: float | None = None
    counts_share: float = 0.7
    false_cells: float = 0.05
    pull: bool = True


# NAS, Algorithm 1 of the paper: each public site asks for the average of its nearest sources.

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
