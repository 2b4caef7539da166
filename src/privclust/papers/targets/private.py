"""NAS and NNA of Schnapp and Sabato (2025), Algorithms 1 and 2, private as repaired.

Sites are a coreset of the targets. Each one asks for the number and the sum of its sources; where
the noisy number is large enough, sum over number becomes a point of the sanitised source. Three
things differ from the paper: the noise has the constants of ``proofs/source-target.md``; the
threshold almost never lets an empty cell through; and a released point that noise moved out of its
own cell is pulled back to the border, where it would be without noise.

All sites of the coreset ask at once, as one joint query, and t is public: where there are fewer
sources than t, the site itself replaces the missing ones, so that no number of sources makes
the query more sensitive. Such averages say that there is a source where there is none, so the
number of sources is asked for as well, and with fewer than t of them the averages are not used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.data.public import Noisy
from privclust.data.sites.distances import CoordinateMetric
from privclust.data.sites.public import Rings
from privclust.data.sites.view import SitesView
from privclust.distributions import quantile
from privclust.exceptions import ParameterError
from privclust.ledger.ledger import Ledger
from privclust.notes import Note
from privclust.papers.targets.theory import gaussian_deviation
from privclust.schema.schema import Schema
from privclust.source_target.certificate import distance_bounds
from privclust.source_target.estimator import SourceTargetEstimator
from privclust.source_target.noisy_source import NoisySource, base_from_points, no_source_warning
from privclust.source_target.placement import CoordinateCells, method_sites, nearest_site
from privclust.source_target.public_targets import PublicTargets
from privclust.source_target.task import NEAREST_PARAMETERS
from privclust.unit import Unit

# NNA, Algorithm 2 of the paper: count and average the sources nearest to each public site.

_HALVINGS = 8
# No empty cell passes more often: half of all noise is below zero.
_LIKELIEST = 0.49


def ask_nna(view: SitesView, budget: Share, settings: NearestSettings) -> NoisySource:
    """Sanitise the source within ``budget``."""
    space = view.space
    radius = settings.radius * space.radius
    sites = method_sites(space.targets, radius, settings.coreset, few=False)
    for_counts, for_sums = _nna_shares(budget, settings, space.dimension)
    answer = view.ask_cells("cells of the coreset", sites, counts=for_counts, sums=for_sums)
    threshold = _nna_threshold(view, for_counts, budget, settings, len(sites))
    (live,) = np.nonzero(answer.counts.value >= threshold)
    averages = space.centre + answer.sums.value[live] / answer.counts.value[live, None]
    points = averages
    if settings.pull:
        points = pull_into_cells(averages, live, sites, space.order)
    return NoisySource(
        points,
        answer.counts.value[live],
        answer.counts.standard_error,
        np.full((len(live), 2), np.nan),
        base_from_points(space, points)[None],
        Noisy(answer.counts.value[live], answer.counts.standard_error),
        notes=no_source_warning(len(live)),
    )


def _nna_shares(budget: Share, settings: NearestSettings, dimension: int) -> tuple[Share, Share]:
    """Return what counts and sums cost; of the paper's noise, the part that it would need to be.

    The paper adds to counts and to all coordinates of sums, in diameters, noise for a change by
    √d + 1 in the sum of absolute values, or by 2 in length; they change by 1 and by half of one.
    """
    if settings.noise == "exact":
        counts, sums = budget.split([settings.counts_share, 1 - settings.counts_share])
        return counts, sums
    if budget.currency == "zcdp":
        return budget.take(Fraction(1, 4)), budget.take(Fraction(1, 16))
    root = math.sqrt(dimension)
    # Noise on a ball has the deviation R √(d + 1) / ε, Laplace noise √2 times its scale.
    ball = math.sqrt((dimension + 1) / 8)
    return budget.take(1 / (root + 1)), budget.take(ball / (root + 1))


def _nna_threshold(
    view: SitesView, for_counts: Share, budget: Share, settings: NearestSettings, n_sites: int
) -> float:
    """Return the noisy count from which a cell counts as occupied."""
    if settings.noise == "published" and budget.currency == "pure":
        root = math.sqrt(view.space.dimension)
        return 1 + math.log((root + 1) / settings.false_cells) / float(budget.amount)
    chance = min(settings.false_cells / n_sites, _LIKELIEST)
    return max(1.0, quantile(view.count_noise(for_counts), chance))


def pull_into_cells(points: Floats, cells: NDArray[np.intp], sites: Floats, order: int) -> Floats:
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
    """Settings of ``"nna"`` and ``"nas"``; the defaults are those of the estimator."""

    radius: float = 0.1  # how far a target may be from the coreset, in radii of the targets
    coreset: str | None = "auto"  # how the coreset is made; None for none
    n_nearest: int = 150  # t of NAS: how many sources each site averages
    spread_share: float | None = None  # what NAS pays for Δ_t(S), if it is wanted
    counts_share: float = 0.7  # what NNA pays for counts; sums get the rest
    # How many empty cells NNA may take for occupied on average; the paper's γ is about that of one
    # cell.
    false_cells: float = 0.05
    # Whether NNA pulls a point that noise moved out of its cell back to its border.
    pull: bool = True
    noise: str = "exact"  # or "published", that of the paper
    bound_share: float | None = None  # what is paid for a bound on the cost, if it is wanted
    promise: tuple[float, float] = (1.0, 0.0)  # ε and δ, from which the paper has σ_NAS


# NAS, Algorithm 1 of the paper: each public site asks for the average of its nearest sources.

_NUMBER_SHARE = 0.05


def ask_nas(view: SitesView, budget: Share, settings: NearestSettings) -> NoisySource:
    """Sanitise the source within ``budget``."""
    space, n_nearest = view.space, settings.n_nearest
    radius = settings.radius * space.radius
    sites = method_sites(space.targets, radius, settings.coreset, few=True)
    spread = None
    if settings.spread_share is not None:
        for_spread = budget.take(settings.spread_share)
        budget = budget.remainder(for_spread)
        spread = view.ask_nearest_distance("distance to sources", sites, n_nearest, for_spread)
    for_number, for_averages = budget.split([_NUMBER_SHARE, 1 - _NUMBER_SHARE])
    counted = view.ask_count("number of sources", for_number)
    number = float(counted.value[0])
    if settings.noise == "published" and budget.currency == "zcdp":
        for_averages = _published_averages(for_averages, settings, len(sites))
    answer = view.ask_nearest_averages(
        "averages of nearest sources", sites, n_nearest, for_averages
    )
    enough = number >= n_nearest
    points = space.centre + answer.value if enough else np.empty((0, space.dimension))
    nothing = np.full(len(points), np.nan)
    return NoisySource(
        points,
        nothing,
        np.nan,
        np.column_stack([nothing, nothing]),
        base_from_points(space, points)[None],
        counted,
        notes=() if enough else _too_few_warning(number, n_nearest),
        spread=spread,
    )


def _published_averages(share: Share, settings: NearestSettings, n_sites: int) -> Share:
    """Return the part of a share that buys noise of σ_NAS, for a change by √n / t in diameters."""
    deviation = gaussian_deviation(n_sites, settings.n_nearest, *settings.promise)
    needed = n_sites / (2 * (settings.n_nearest * deviation) ** 2)
    return share.take(min(1.0, needed / float(share.amount)))


def ask_bounds(view: SitesView, share: Share, settings: NearestSettings) -> Floats:
    """Ask how many sources are near each site, and return bounds on the distances of targets."""
    cells, radius = CoordinateCells(view.space), settings.radius * view.space.radius
    sites = method_sites(view.space.targets, radius, settings.coreset, few=True)
    rings = Rings(np.array([0.0, radius]), (sites,))
    counts = view.ask_histogram("sources near the coreset", rings, share)
    return distance_bounds(cells, rings, counts, view.count_noise(share))


def _too_few_warning(number: float, n_nearest: int) -> tuple[Note, ...]:
    text = (
        f"There are about {max(number, 0):.0f} sources, fewer than the {n_nearest} to average, so "
        "the centres are those of the targets alone; lower n_nearest or raise epsilon."
    )
    return (Note("rows-unseen", text),)


class PrivateNearestMedoids(SourceTargetEstimator):
    """NAS and NNA of Schnapp and Sabato (2025): sources as averages near public sites.

    These are the published methods, for comparison; :class:`privclust.PrivateSourceTargetMedoids`
    has the same promise and lower costs.

    Parameters
    ----------
    n_centers : int, default=8
        The number of new centres.
    epsilon, delta, budget
        See :class:`privclust.PrivateSourceTargetMedoids`.
    method : {"nna", "nas"}, default="nna"
        ``"nna"`` counts and averages the sources nearest to each site of a coreset; ``"nas"``
        averages the nearest sources of each site.
    metric : {"euclidean", "manhattan", "cosine", "haversine"}, default="euclidean"
        See :class:`privclust.PrivateSourceTargetMedoids`; averages need coordinates.
    schema, bounds, unit, n_projected
        See :class:`privclust.PrivateSourceTargetMedoids`.
    coreset : {"auto", "halving", "net"} or None, default="auto"
        How the coreset is made: cells halved at medians, a greedy net, or none at all, which takes
        every target as a site. ``"auto"`` takes the one with fewer sites for ``"nas"``, whose noise
        grows with them, and the finer one for ``"nna"``.
    coreset_radius : float, default=0.05
        How far a target may lie from the coreset, in diameters of the targets.
    n_nearest : int, default=150
        t, the number of sources that each site of ``"nas"`` averages.
    bound_share : float or None, default=None
        The share of the budget that pays for counts of sources near the sites, from which
        ``cost_bound_`` follows; the paper has no bound for ``"nna"``.
    spread_share : float or None, default=None
        The share of the budget of ``"nas"`` that pays for Δ_t(S), the mean distance of sites to
        their t nearest sources, on which its utility depends.
    counts_share : float, default=0.7
        The share of the budget of ``"nna"`` that pays for counts; sums of sources get the rest.
    false_cells : float, default=0.05
        How many empty cells of ``"nna"`` may be mistaken for occupied ones on average: the paper's
        γ, for all cells together.
    pull : bool, default=True
        Whether ``"nna"`` pulls averages that noise moved out of their cells back to the border.
    noise : {"exact", "published"}, default="exact"
        As much noise as the promise needs, or that of the paper, which is more; what is not needed
        stays unspent. For ``"nas"`` it is σ_NAS of Theorem 5.3 with δ, and the same in pure ε; for
        ``"nna"`` that of Theorems 5.11 and 5.13, in pure ε with the paper's threshold at
        γ = ``false_cells``.
    random_state, ledger, dataset
        See :class:`privclust.PrivateSourceTargetMedoids`.

    Attributes
    ----------
    medoid_indices_, centers_, labels_, order_, order_costs_, cost_estimate_, released_source_
        See :class:`privclust.PrivateSourceTargetMedoids`.
    cost_bound_ : float or None
        The same, if ``bound_share`` is set.
    source_spread_, source_spread_error_ : float
        Noisy Δ_t(S) and its standard error, if ``spread_share`` is set.
    served_by_source_, privacy_, schema_, warnings_, n_features_in_, feature_names_in_
        See :class:`privclust.PrivateSourceTargetMedoids`.

    References
    ----------
    Schnapp, Sabato, "Differentially Private Source-Target Clustering" (TMLR 2025).

    Examples
    --------
    >>> towns = [[x / 10, y / 10] for x in range(20) for y in range(20)]
    >>> existing = [[0.3, 0.4]] * 300
    >>> model = PrivateNearestMedoids(2, epsilon=2.0, method="nna").fit(towns, source=existing)
    >>> model.centers_.shape
    (2, 2)
    """

    _parameters: ClassVar[Any] = NEAREST_PARAMETERS

    def __init__(
        self,
        n_centers: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        method: Literal["nna", "nas"] = "nna",
        metric: CoordinateMetric = "euclidean",
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        n_projected: int | None = None,
        coreset: Literal["auto", "halving", "net"] | None = "auto",
        coreset_radius: float = 0.05,
        n_nearest: int = 150,
        bound_share: float | None = None,
        spread_share: float | None = None,
        counts_share: float = 0.7,
        false_cells: float = 0.05,
        pull: bool = True,
        noise: Literal["exact", "published"] = "exact",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.epsilon, self.delta, self.budget = epsilon, delta, budget
        self.method, self.metric = method, metric
        self.schema, self.bounds = schema, bounds
        self.unit = unit
        self.n_projected = n_projected
        self.coreset, self.coreset_radius = coreset, coreset_radius
        self.n_nearest = n_nearest
        self.bound_share, self.spread_share = bound_share, spread_share
        self.counts_share = counts_share
        self.false_cells = false_cells
        self.pull, self.noise = pull, noise
        self.random_state = random_state
        self.ledger, self.dataset = ledger, dataset

    def _ask_source(
        self, view: SitesView, share: Share, public: PublicTargets, rng: np.random.Generator
    ) -> NoisySource:
        ask, options = ask_nas if self.method == "nas" else ask_nna, self._method_options()
        if options.bound_share is None:
            return ask(view, share, options)
        for_bounds = share.take(options.bound_share)
        released = ask(view, share.remainder(for_bounds), options)
        return replace(released, bounds=ask_bounds(view, for_bounds, options))

    def _method_options(self) -> NearestSettings:
        budget = self._budget()
        return NearestSettings(
            radius=2 * self.coreset_radius,  # the parameter is in diameters of the targets
            coreset=self.coreset,
            n_nearest=int(self.n_nearest),
            bound_share=self.bound_share,
            spread_share=self.spread_share,
            counts_share=self.counts_share,
            false_cells=float(self.false_cells),
            pull=bool(self.pull),
            noise=self.noise,
            promise=(float(budget.epsilon), float(budget.delta)),
        )

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.spread_share is not None and self.method != "nas":
            raise ParameterError('spread_share belongs to method="nas"; drop it or set the method.')
