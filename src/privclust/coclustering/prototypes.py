"""From noisy sums of row profiles to the prototypes of the next round. Post-processing only.

A line of the sums is that of the rows nearest to one prototype. What sets the lines apart is what
they have besides the profile that all rows share. Noise is the same in every column and signal is
not: it grows with the column's total. So columns of like totals are shrunk together, by as much as
their spread over the lines exceeds that of the noise.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.coclustering.grouping import merging
from privclust.data.view import Noisy

__all__ = [
    "distinguishing",
    "first_prototypes",
    "joined",
    "masses",
    "next_prototypes",
    "signal_length",
    "unit",
]


# A column whose total is below this many standard errors is taken for empty.
_SEEN = 1.5
# Columns are shrunk in this many groups of equal size, unless groups become smaller than that.
_GROUPS, _SMALLEST_GROUP = 40, 10
# Prototypes whose rows add up to less than this part of the mean are lost.
_DEAD = 0.1
_STARTS = 10


def signal_length(totals: Noisy) -> float:
    """Return the length of noisy totals without what the noise adds to it."""
    by_noise = totals.value.size * totals.standard_error**2
    return float(np.sqrt(max(0.0, float((totals.value**2).sum()) - by_noise)))


def joined(totals: Noisy, sums: Noisy) -> Noisy:
    """Return the totals of the columns by all that was asked: each answer by its precision."""
    before = 1 / totals.standard_error**2
    new = 1 / (len(sums.value) * sums.standard_error**2)
    values = (before * totals.value + new * sums.value.sum(axis=0)) / (before + new)
    return Noisy(values, float(1 / np.sqrt(before + new)))


def first_prototypes(totals: Noisy, count: int, rng: np.random.Generator) -> Floats:
    """Return random directions within the columns that are seen, across the common profile.

    Rows have most in common with the common profile. A direction along it would draw all of them.
    Frequent columns weigh more, because rows seldom share a rare one.
    """
    drawn = rng.standard_normal((count, len(totals.value)))
    seen = _seen(totals)
    return unit(_across(drawn * np.sqrt(seen) if seen.any() else drawn, totals))


def masses(sums: Noisy, totals: Noisy) -> Floats:
    """Return how much of the common profile is in each line, which follows its number of rows."""
    found: Floats = np.maximum(sums.value @ _common(totals), sums.standard_error)
    return found


def distinguishing(sums: Noisy, totals: Noisy) -> Floats:
    """Return what sets the lines apart, shrunk by the noise, in columns of comparable spread.

    Counts vary the more, the more frequent a column is; it is divided by the root of its total.
    """
    shares = masses(sums, totals)
    own = sums.value - np.outer(shares / shares.sum(), sums.value.sum(axis=0))
    apart = shrunk(Noisy(_across(own, totals), sums.standard_error), totals)
    seen = _seen(totals)
    levelled = np.divide(apart, np.sqrt(seen), out=np.zeros_like(apart), where=seen > 0)
    return _across(levelled, totals)


def shrunk(deviations: Noisy, totals: Noisy) -> Floats:
    """Return the deviations times the share of the signal in their variance, column by column.

    That share is estimated for groups of columns with totals of about the same size. The lines of
    the deviations add up to nothing, so in each column noise has one degree of freedom fewer.
    """
    values, noise = deviations.value, deviations.standard_error**2
    excess = (values**2).sum(axis=0) / max(len(values) - 1, 1) - noise
    signal = np.zeros_like(excess)
    n_groups = min(_GROUPS, max(1, len(excess) // _SMALLEST_GROUP))
    for alike in np.array_split(np.argsort(_seen(totals), kind="stable"), n_groups):
        signal[alike] = max(0.0, float(excess[alike].mean()))
    return np.asarray(values * (signal / (signal + noise)))


def next_prototypes(lines: Floats, weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return as many prototypes as lines, or fewer ones into which similar lines are merged."""
    directions = unit(lines)
    if count < len(lines):
        groups = merging(lines, weights, count, rng, n_starts=_STARTS)
        merged = np.zeros((count, lines.shape[1]))
        np.add.at(merged, groups, directions * weights[:, None])
        rows_in_each = np.bincount(groups, weights, count).astype(np.float64)
        return _revived(unit(merged), rows_in_each, rng)
    return _revived(directions, weights, rng)


def _revived(prototypes: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Let prototypes that hardly any row is nearest to share the rows of the heaviest ones."""
    prototypes = prototypes.copy()
    dead = np.flatnonzero(weights < _DEAD * weights.mean())
    for weak, heavy in zip(dead, np.argsort(-weights), strict=False):
        aside = unit(rng.standard_normal((1, prototypes.shape[1])))[0]
        prototypes[weak] = prototypes[heavy] + aside
        prototypes[heavy] -= aside
    return unit(prototypes)


def _seen(totals: Noisy) -> Floats:
    """Return the totals, and zero for those that may be noise."""
    return np.where(totals.value > _SEEN * totals.standard_error, totals.value, 0.0)


def _common(totals: Noisy) -> Floats:
    common: Floats = unit(_seen(totals)[None])[0]
    return common


def _across(lines: Floats, totals: Noisy) -> Floats:
    """Return the lines without what lies along the common profile."""
    common = _common(totals)
    return np.asarray(lines - np.outer(lines @ common, common))


def unit(lines: Floats) -> Floats:
    """Return the lines at length one; a line of zeros stays as it is."""
    lengths: Floats = np.linalg.norm(lines, axis=1, keepdims=True)
    return np.asarray(lines / np.maximum(lengths, 1e-12))
