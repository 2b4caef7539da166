"""Rings, our default: counts of sources by distance to the targets, and what they say of the truth.

Most bins of a histogram are empty and a few are full. How many are full is itself learned from the
noisy counts: the distribution of true counts that explains them best is found by
expectation-maximisation (empirical Bayes), and gives each bin a posterior of its true count.

Such a fit explains the largest noise by true counts. So no bin is trusted more than the false
discovery rate at its count allows (Benjamini and Hochberg 1995), and a group of bins is empty if
none of them stands out from pure noise.

An average of sources needs dozens of them to be of use; a count needs a few. So only counts are
asked for. Shells of distance to the nearest target double in width, from a fraction of the spacing
of the targets to their diameter, and each shell is cut into the cells of public sites: finer if it
has more sources. A first, small part of the budget counts whole shells; the rest counts all cells
of all shells at once.

The true counts behind the noisy ones, and the positions of sources in their cells, remain
uncertain. Instead of one guess the solver gets several draws of both and minimises its cost on
average; a choice that is not better than ignoring the source in each of them is not made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Integers
from privclust.budget import Share
from privclust.data.public import Noisy
from privclust.data.sites.public import Rings
from privclust.data.sites.view import SitesView
from privclust.distributions import log_density, tail
from privclust.notes import Note
from privclust.source_target.certificate import distance_bounds
from privclust.source_target.noisy_source import NoisySource, no_source_warning
from privclust.source_target.placement import PlacementRequest, PublicCells

# What noisy counts say about the true ones: post-processing of released histograms.

_STEPS = 200
_SMALL_COUNTS, _LARGER_COUNTS = 12, 30
# One pseudo-count of an empty bin: a histogram of few bins should not explain its noise by true
# counts.
_EMPTY_BINS = 1.0
# A bin that is occupied with a smaller chance counts as empty. Small chances would otherwise add up
# over hundreds of bins and cover everything a little.
_OCCUPIED = 0.5


@dataclass(frozen=True)
class CountPosterior:
    """The posterior of the true counts."""

    counts: Floats  # (n_counts,): possible true counts, rising from 0
    chances: Floats  # (n_bins, n_counts): the chance of each, for each bin

    def with_min_doubt(self, doubts: Floats, most: float = 1.0) -> CountPosterior:
        """Return the posterior with each bin empty with at least the chance of its doubt.

        All of them are empty if the doubt of even the clearest one is above ``most``.
        """
        empty = np.maximum(self.chances[:, 0], doubts)
        if doubts.min(initial=1) > most:
            empty[:] = 1
        full = self.chances[:, 1:].sum(axis=1)
        left = np.where(full > 0, (1 - empty) / np.where(full > 0, full, 1), 0)
        changed = self.chances * left[:, None]
        changed[:, 0] = 1 - changed[:, 1:].sum(axis=1)
        return CountPosterior(self.counts, changed)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Which bins have a row with enough certainty."""
        return np.asarray(1 - self.chances[:, 0] >= _OCCUPIED)

    def draws(self, count: int, rng: np.random.Generator) -> Integers:
        """Return possible true counts of all bins, of shape (count, n_bins).

        Bins that are not surely occupied get none. Draws are stratified: a chance of one in
        ``count`` occurs once, not once on average.
        """
        n_bins = len(self.chances)
        order = rng.permuted(np.tile(np.arange(count), (n_bins, 1)), axis=1)
        thresholds = (order + rng.random((n_bins, count))) / count
        below = self.chances.cumsum(axis=1)
        picked = np.array([(below < column[:, None]).sum(axis=1) for column in thresholds.T])
        drawn = self.counts[np.minimum(picked, len(self.counts) - 1)]
        return np.where(self.occupied, drawn, 0).astype(np.int64)


def count_posterior(
    noisy: Floats, standard_error: float, log_density: Callable[[Floats], Floats]
) -> CountPosterior:
    """Return the posterior of true counts behind noisy ones.

    ``noisy``: (n_bins,). ``log_density``: the log-density of the noise, up to a constant.
    """
    highest = max(float(noisy.max(initial=0)) + 2 * standard_error, _SMALL_COUNTS + 1.0)
    larger = np.round(np.geomspace(_SMALL_COUNTS, highest, _LARGER_COUNTS))
    counts = np.unique(np.concatenate([np.arange(_SMALL_COUNTS), larger]))
    logs = log_density(noisy[:, None] - counts)
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(len(counts), 0.5 / (len(counts) - 1))
    prior[0] = 0.5
    chances = likelihoods
    for _ in range(_STEPS):
        chances = likelihoods * prior
        chances /= chances.sum(axis=1, keepdims=True)
        prior = chances.sum(axis=0)
        prior[0] += _EMPTY_BINS
        prior /= prior.sum()
    return CountPosterior(counts, chances)


def false_positive_shares(tails: Floats) -> Floats:
    """Return the expected share of empty bins among those with at least the count of each.

    ``tails``: (n_bins,), the chance that noise alone is as large as the noisy count of each bin.
    """
    order = np.argsort(tails)
    expected = tails[order] * len(tails) / np.arange(1, len(tails) + 1)
    shares = np.empty(len(tails))
    shares[order] = np.minimum.accumulate(expected[::-1])[::-1]
    return np.minimum(shares, 1)


# The share of the budget that counts whole shells.
_SHELLS_SHARE = 0.06

# The spacing of targets is their median distance to this many sites.
_SPACING_SITES = 100
_INNER_SHELLS = 4
_MOST_OUTER_SHELLS = 12

# Sites of a shell per source, in units of the standard error of a count; and their bounds.
_SITES_PER_SOURCE = 0.1
_FEWEST_INNER, _MOST_INNER = 30, 1500
_FEWEST_OUTER, _MOST_OUTER = 12, 60

# Draws to solve for, and draws to validate with.
_DRAWS, _JUDGES = 16, 32
# Counts of this many standard errors are unsure, those beyond are sure.
_UNSURE = 2.0, 8.0
# The most positions in a cell of an outer shell. One position for dozens of sources would miss most
# of what they serve; enough to fill the cell would serve what the true ones do not.
_MOST_OUTER_PLACES = 8
# The chance that pure noise makes the inner shells seem occupied.
_FALSE_INNER = 0.01
_FEW_SOURCES = 140
# The share of sources outside that is worth a warning, and how clear it must be.
_MUCH_OUTSIDE, _CLEAR = 0.05, 3.0


@dataclass(frozen=True)
class _Shells:
    """Noisy numbers of sources per shell; the inner ones share their sites."""

    edges: Floats
    noisy: Floats
    outside: float
    error: float

    @property
    def sizes(self) -> Floats:
        return np.maximum(self.noisy, 0)

    @property
    def total(self) -> float:
        return float(max(self.noisy.sum(), 1.0))

    @property
    def inner(self) -> float:
        return float(self.sizes[: _INNER_SHELLS + 1].sum())


def ask_rings(
    view: SitesView, budget: Share, cells: PublicCells, rng: np.random.Generator
) -> NoisySource:
    """Sanitise the source within ``budget``."""
    for_shells, for_cells = budget.split([_SHELLS_SHARE, 1 - _SHELLS_SHARE])
    shells = _ask_shell_counts(view, for_shells, cells)
    error = view.count_error(for_cells)
    partition = _partition(cells, shells, error)
    answer = view.ask_histogram("cells of all shells", partition, for_cells)
    posteriors = _posteriors(view, for_cells, partition, answer)
    inner = shells.sizes[: _INNER_SHELLS + 1]

    def draws(count: int) -> Floats:
        drawn = [posterior.draws(count, rng) for posterior in posteriors]
        return np.array(
            [
                _base_draw(cells, partition, counts, shells.edges, inner, error, rng)
                for counts in zip(*drawn, strict=True)
            ]
        )

    live = np.concatenate([posterior.occupied for posterior in posteriors])
    return NoisySource(
        np.concatenate([cells.positions(sites) for sites in partition.sites])[live],
        answer.value[:-1][live],
        answer.standard_error,
        _shell_bounds(partition)[live],
        draws(_DRAWS),
        Noisy(shells.noisy, shells.error),
        _notes(shells, error, int(live.sum())),
        judges=draws(_JUDGES),
        bounds=distance_bounds(cells, partition, answer, view.count_noise(for_cells)),
    )


def _ask_shell_counts(view: SitesView, share: Share, cells: PublicCells) -> _Shells:
    """Count the sources by their distance to the nearest target."""
    spacing, diameter = cells.spacing(_SPACING_SITES), 2 * cells.radius
    outer = int(np.clip(np.ceil(np.log2(diameter / spacing)), 1, _MOST_OUTER_SHELLS))
    edges = np.append(0, spacing * 2.0 ** np.arange(-_INNER_SHELLS, outer + 1))
    one = cells.sites(1)
    whole = Rings(edges, tuple(one for _ in edges[1:]))
    answer = view.ask_histogram("distances to the targets", whole, share)
    return _Shells(edges, answer.value[:-1], float(answer.value[-1]), answer.standard_error)


def _partition(cells: PublicCells, shells: _Shells, error: float) -> Rings:
    """Return the partition; the inner shells become one, cut into the finest cells."""
    rate = _SITES_PER_SOURCE / error
    inner = cells.sites(int(np.clip(rate * shells.inner, _FEWEST_INNER, _MOST_INNER)))
    outer = [
        cells.sites(int(np.clip(rate * size, _FEWEST_OUTER, _MOST_OUTER)))
        for size in shells.sizes[_INNER_SHELLS + 1 :]
    ]
    edges = np.append(0, shells.edges[_INNER_SHELLS + 1 :])
    return Rings(edges, (inner, *outer))


def _posteriors(
    view: SitesView, share: Share, partition: Rings, answer: Noisy
) -> list[CountPosterior]:
    """Return the chances of the counts of each shell; the outer ones learn from each other."""
    noise, noisy, cuts = view.count_noise(share), answer.value[:-1], partition.offsets[1:-1]
    first = cuts[0]
    inner, outer = (
        count_posterior(counts, answer.standard_error, lambda gaps: log_density(noise, gaps))
        for counts in (noisy[:first], noisy[first:])
    )
    tails = tail(noise, noisy)
    shares = false_positive_shares(tails[:first])
    inner = inner.with_min_doubt(shares, _FALSE_INNER).with_min_doubt(_inflate(shares))
    # Few outer bins are occupied, and one false bin near a cluster of targets costs more than a
    # true one gains: it counts as empty as often as false bins are expected, not just by their
    # share.
    expected = np.minimum(tails[first:] * len(tails[first:]), 1)
    outer = outer.with_min_doubt(_inflate(expected))
    shells = np.split(outer.chances, cuts[1:] - first)
    return [inner, *(CountPosterior(outer.counts, chances) for chances in shells)]


def _inflate(false: Floats) -> Floats:
    """Return the chances that bins are empty, given the chances that pure noise fills them.

    A false bin leaves targets without a centre, which costs far more than a true one gains. The
    root keeps some draws in which a single bin is empty, so that targets that depend on it alone
    get a centre if they are many or far away; targets near several bins are served in any draw.
    """
    return np.asarray(np.sqrt(false))


def _base_draw(
    cells: PublicCells,
    partition: Rings,
    drawn: Sequence[Integers],
    inner_edges: Floats,
    inner_sizes: Floats,
    error: float,
    rng: np.random.Generator,
) -> Floats:
    """Draw positions of sources and return the distance of each target to the nearest."""
    inner_counts = _n_places(drawn[0], error)
    weights = inner_sizes + 1e-9
    shells = rng.choice(len(weights), int(inner_counts.sum()), p=weights / weights.sum())
    lows = np.maximum(inner_edges[shells], inner_edges[1] / 10)
    placed = [
        cells.place(
            PlacementRequest(
                partition.sites[0], inner_counts, lows, inner_edges[shells + 1], checked=False
            ),
            rng,
        )
    ]
    for shell, counts in enumerate(drawn[1:], start=1):
        counts = np.minimum(_n_places(counts, error), _MOST_OUTER_PLACES)
        if not counts.any():
            continue
        low, high = partition.edges[shell : shell + 2]
        bounds = np.full(counts.sum(), low), np.full(counts.sum(), high)
        wanted = PlacementRequest(partition.sites[shell], counts, *bounds, checked=True)
        placed.append(cells.place(wanted, rng))
    return cells.base(placed)


def _n_places(counts: Integers, error: float) -> Integers:
    """Return how many positions counts get: one if they barely stand out, all if they are sure.

    Only a sure count is spread over its cell.
    """
    low, high = _UNSURE
    sure = np.clip((counts / error - low) / (high - low), 0, 1)
    return np.minimum(counts, np.maximum(1, (sure * counts).astype(np.int64)))


def _shell_bounds(partition: Rings) -> Floats:
    bounds = np.column_stack([partition.edges[:-1], partition.edges[1:]])
    return np.repeat(bounds, [len(sites) for sites in partition.sites], axis=0)


def _notes(shells: _Shells, error: float, n_live: int) -> tuple[Note, ...]:
    found = no_source_warning(n_live)
    if not found and shells.total < _FEW_SOURCES * error:
        text = (
            f"There are about {shells.total:.0f} sources, few for this budget; expect little from "
            "them, or raise epsilon."
        )
        found += (Note("few-sources", text),)
    beyond = shells.outside / (shells.total + max(shells.outside, 0))
    if beyond > _MUCH_OUTSIDE and shells.outside > _CLEAR * shells.error:
        text = (
            f"About {100 * beyond:.0f} % of the sources lie outside the declared bounds or far "
            "from all targets and were left out; widen the bounds if they should count."
        )
        found += (Note("rows-outside", text),)
    return found
