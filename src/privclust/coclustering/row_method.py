"""Co-clustering when whole rows are protected: only sums over groups of rows are ever released.

All of it is post-processing of one released table: a line per row cluster, a number per column.

A line of the sums is that of the rows nearest to one prototype. The lines differ in what they have
besides the profile that all rows share. Noise is the same in every column and signal is not: it
grows with the column's total. So columns of similar totals are shrunk together, by as much as their
spread over the lines exceeds that of the noise.

Rows are compared with public prototypes behind the door, and the noisy sums of the profiles of the
rows nearest to each one become the next prototypes. The assignment of rows is never released. The
block totals are a separate question: the column clusters fit the noise of the last sums, and totals
added up from them would show τ where there is none.

Few prototypes are stuck with a bad start; many are each lost in noise. So the sum of all profiles
is asked first, and its length says how many rounds and prototypes are affordable.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.budget import Share
from privclust.coclustering.association import tau_weights
from privclust.coclustering.groups import embed_lines, group_lines, merge_clusters
from privclust.coclustering.result import CoclusteringResult
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import ProfilesView
from privclust.data.public import Noisy

# From noisy profiles of the row clusters to column clusters and row labels.

_MOST_STEPS = 15
_COLUMN_STARTS = 8
# How strongly frequent columns are preferred; see :func:`embed`.
_TRUST = 0.5
# Shares are compared after adding this many standard errors to both, which damps rare columns.
_PSEUDO = 3


def column_clusters(profiles: Noisy, n_clusters: int, rng: np.random.Generator) -> Groups:
    """Return column clusters by the τ rule, as long as none becomes empty.

    ``profiles``: (n_row_clusters, n_columns), noisy sums of each column over each row cluster.
    ``rng``: picks the start where there are not as many column clusters as row clusters.
    """
    values = profiles.value
    if n_clusters == len(values):
        positive = np.maximum(values, 0)
        labels = (positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-9)).argmax(axis=0)
    else:
        labels = _similar_columns(profiles, n_clusters, rng)
    for _ in range(_MOST_STEPS):
        weights = tau_weights(_totals(values, labels, n_clusters).T)
        moved = (values.T @ weights.T).argmax(axis=1)
        # The rule may empty a cluster for a little more τ; the user asked for that many.
        if (moved == labels).all() or len(np.unique(moved)) < len(np.unique(labels)):
            break
        labels = moved
    return Groups(labels, n_clusters)


def _similar_columns(
    profiles: Noisy, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return groups of similar columns, because the τ rule rarely escapes a random start."""
    columns = Noisy(profiles.value.T, profiles.standard_error)
    n_directions = max(1, min(n_clusters, len(profiles.value)) - 1)
    alike = group_lines(
        embed_lines(columns, n_directions, trust=_TRUST), n_clusters, rng, n_starts=_COLUMN_STARTS
    )
    return alike.labels.astype(np.intp)


def _totals(profiles: Floats, labels: NDArray[np.intp], n_clusters: int) -> Floats:
    return np.stack([np.bincount(labels, line, n_clusters) for line in profiles])


def prototype_weights(profiles: Noisy) -> Floats:
    """Return how much one count in each column favours each row cluster.

    It is the logarithm of the column's share in the cluster over its share in all. Deviations from
    the common share are shrunk for their noise (James and Stein).

    Returns ``weights``: (n_row_clusters, n_columns).
    """
    values, error = profiles.value, profiles.standard_error
    shares = np.maximum(values.sum(axis=0), 0) + 1e-9
    expected = np.maximum(values.sum(axis=1), 1.0)[:, None] * (shares / shares.sum())
    deviation = values - expected
    kept = np.maximum(0, 1 - error**2 / np.maximum(deviation**2, 1e-9))
    pseudo = _PSEUDO * max(error, 0.5)
    likely = np.maximum(expected + deviation * kept, 0)
    weights: Floats = np.log((likely + pseudo) / (expected + pseudo))
    return weights


# From noisy sums of row profiles to the prototypes of the next round. Post-processing only.

# A column whose total is below this many standard errors counts as empty.
_SEEN = 1.5
# Columns are shrunk in this many groups of equal size, unless groups become smaller than that.
_GROUPS, _SMALLEST_GROUP = 40, 10
# Prototypes whose rows add up to less than this share of the mean are lost.
_DEAD = 0.1
_STARTS = 10


def signal_length(totals: Noisy) -> float:
    """Return the length of noisy totals, corrected for the noise."""
    by_noise = totals.value.size * totals.standard_error**2
    return float(np.sqrt(max(0.0, float((totals.value**2).sum()) - by_noise)))


def combine_totals(totals: Noisy, sums: Noisy) -> Noisy:
    """Return the totals of the columns from all answers, weighted by precision."""
    before = 1 / totals.standard_error**2
    new = 1 / (len(sums.value) * sums.standard_error**2)
    values = (before * totals.value + new * sums.value.sum(axis=0)) / (before + new)
    return Noisy(values, float(1 / np.sqrt(before + new)))


def first_prototypes(totals: Noisy, count: int, rng: np.random.Generator) -> Floats:
    """Return random directions in the columns above the noise, orthogonal to the common profile.

    All rows are close to the common profile. A direction along it would attract all of them.
    Frequent columns weigh more, because rows rarely share a rare one.
    """
    drawn = rng.standard_normal((count, len(totals.value)))
    seen = _zero_below_noise(totals)
    return normalise(_across(drawn * np.sqrt(seen) if seen.any() else drawn, totals))


def cluster_mass(sums: Noisy, totals: Noisy) -> Floats:
    """Return the projection of each line on the common profile, about proportional to its rows."""
    found: Floats = np.maximum(sums.value @ _common(totals), sums.standard_error)
    return found


def distinguishing_profiles(sums: Noisy, totals: Noisy) -> Floats:
    """Return the deviations of the lines, shrunk for noise, in columns of comparable spread.

    Counts of frequent columns vary more, so a column is divided by the root of its total.
    """
    shares = cluster_mass(sums, totals)
    own = sums.value - np.outer(shares / shares.sum(), sums.value.sum(axis=0))
    apart = shrink_profiles(Noisy(_across(own, totals), sums.standard_error), totals)
    seen = _zero_below_noise(totals)
    levelled = np.divide(apart, np.sqrt(seen), out=np.zeros_like(apart), where=seen > 0)
    return _across(levelled, totals)


def shrink_profiles(deviations: Noisy, totals: Noisy) -> Floats:
    """Return the deviations times the share of the signal in their variance, column by column.

    That share is estimated for groups of columns with totals of about the same size. The deviations
    add up to zero over the lines, so in each column noise has one degree of freedom fewer.
    """
    values, noise = deviations.value, deviations.standard_error**2
    excess = (values**2).sum(axis=0) / max(len(values) - 1, 1) - noise
    signal = np.zeros_like(excess)
    n_groups = min(_GROUPS, max(1, len(excess) // _SMALLEST_GROUP))
    for alike in np.array_split(np.argsort(_zero_below_noise(totals), kind="stable"), n_groups):
        signal[alike] = max(0.0, float(excess[alike].mean()))
    return np.asarray(values * (signal / (signal + noise)))


def next_prototypes(lines: Floats, weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return as many prototypes as lines, or fewer, merging similar lines."""
    directions = normalise(lines)
    if count < len(lines):
        groups = merge_clusters(lines, weights, count, rng, n_starts=_STARTS)
        merged = np.zeros((count, lines.shape[1]))
        np.add.at(merged, groups, directions * weights[:, None])
        rows_in_each = np.bincount(groups, weights, count).astype(np.float64)
        return _reseed_empty(normalise(merged), rows_in_each, rng)
    return _reseed_empty(directions, weights, rng)


def _reseed_empty(prototypes: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Let prototypes with almost no rows share those of the heaviest ones."""
    prototypes = prototypes.copy()
    dead = np.flatnonzero(weights < _DEAD * weights.mean())
    for weak, heavy in zip(dead, np.argsort(-weights), strict=False):
        aside = normalise(rng.standard_normal((1, prototypes.shape[1])))[0]
        prototypes[weak] = prototypes[heavy] + aside
        prototypes[heavy] -= aside
    return normalise(prototypes)


def _zero_below_noise(totals: Noisy) -> Floats:
    """Return the totals, and zero for those that may be noise."""
    return np.where(totals.value > _SEEN * totals.standard_error, totals.value, 0.0)


def _common(totals: Noisy) -> Floats:
    common: Floats = normalise(_zero_below_noise(totals)[None])[0]
    return common


def _across(lines: Floats, totals: Noisy) -> Floats:
    """Return the lines without their projection on the common profile."""
    common = _common(totals)
    return np.asarray(lines - np.outer(lines @ common, common))


def normalise(lines: Floats) -> Floats:
    """Return the lines at length one; a line of zeros stays as it is."""
    lengths: Floats = np.linalg.norm(lines, axis=1, keepdims=True)
    return np.asarray(lines / np.maximum(lengths, 1e-12))


# The shares of the sum of all profiles, and of the block totals, which are few and large.
_ALL, _BLOCKS = 0.1, 0.05
# Prototypes for each cluster, round by round, and the signal from which the next line applies.
_ROUNDS = (1, 1, 1), (1, 1, 1, 1), (2, 2, 2, 1, 1, 1)
_MORE_FROM = 12, 70
MOST_PROTOTYPES = max(max(line) for line in _ROUNDS)
# Strengths must exceed those of noise by this factor to count as structure.
_ABOVE_EDGE = 1.05


def ask_row_clusters(
    view: ProfilesView,
    budget: Share,
    n_row_clusters: int,
    n_column_clusters: int,
    rng: np.random.Generator,
) -> CoclusteringResult:
    """Co-cluster the rows of ``view`` within ``budget``."""
    for_blocks, for_all, for_rounds = budget.split([_BLOCKS, _ALL, 1 - _BLOCKS - _ALL])
    everything = view.ask_profile_sums("profiles, all rows", np.zeros((1, view.n_columns)), for_all)
    totals = Noisy(everything.value[0], everything.standard_error)
    rounds = affordable_rounds(totals, n_row_clusters)
    prototypes = first_prototypes(totals, rounds[0] * n_row_clusters, rng)
    for number, share in enumerate(for_rounds.split([1] * len(rounds)), start=1):
        sums = view.ask_profile_sums(f"profiles, round {number}", prototypes, share)
        totals = combine_totals(totals, sums)
        lines = distinguishing_profiles(sums, totals)
        if number < len(rounds):
            count = rounds[number] * n_row_clusters
            prototypes = next_prototypes(lines, cluster_mass(sums, totals), count, rng)
    prototypes = normalise(lines)
    columns = column_clusters(sums, n_column_clusters, rng)
    blocks = view.ask_block_shares("block totals", prototypes, columns, for_blocks)
    return CoclusteringResult(
        block_totals=blocks.value,
        block_error=np.full(blocks.value.shape, blocks.standard_error),
        columns=columns,
        column_weights=prototypes.T,
        profiles=sums,
        directions=_directions(sums),
    )


def affordable_rounds(totals: Noisy, n_clusters: int) -> tuple[int, ...]:
    """Return how many prototypes each cluster has in each round.

    The signal is the length of the sum of all profiles, for each cluster, in standard errors of the
    answer that the whole budget would buy. More clusters need more directions above the noise,
    whose length in them grows with the root of their number.

    ``totals``: (n_columns,).
    """
    error = totals.standard_error * np.sqrt(_ALL)
    signal = signal_length(totals) / (n_clusters**1.5 * error)
    return _ROUNDS[bisect_right(_MORE_FROM, signal)]


def _directions(sums: Noisy) -> int:
    """Return how many directions of the last sums stand out, besides the common profile."""
    strengths = np.linalg.eigvalsh(sums.value @ sums.value.T)
    height, width = sums.value.shape
    edge = (np.sqrt(height) + np.sqrt(width)) ** 2 * sums.standard_error**2
    return max(0, int((strengths > _ABOVE_EDGE * edge).sum()) - 1)
