"""Numbers of clusters, rounds and shares of DP-τCC from noisy values: beyond the paper.

Fast-τCC finds the numbers of its clusters by itself; in DP-τCC, whose choices are noisy, no cluster
becomes empty, and K, L, I and h are given. Here the noisy number of counts says how much one round
can tell, and so how many clusters to begin with and how many rounds to pay for. In the end clusters
are joined whose profiles differ no more than noise explains; joined earlier, they could not part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privclust._typing import Floats, Indices
from privclust.data.matrix.public import Groups
from privclust.data.public import Noisy

# What pays for the number of counts.
COUNT_SHARE = 0.02
# Chosen on cstr, classic3, tr11 and five drawn matrices; the other real ones are held out.
_FEWEST_CLUSTERS, MOST_CLUSTERS = 2, 10
# With little signal a round less than the paper's four; more of them cost more than they gain.
_FEWEST_ROUNDS, _MOST_ROUNDS = 3, 4
_LITTLE_SIGNAL = 40.0
# How exact the cells of a table are to be, as a share of a mean block; and the bounds of its share.
_TABLE_ERROR = 0.05
_TABLE_SHARES = 0.05, 0.5
# Profiles that are farther apart, in deviations of the statistic of χ², are not joined.
_ALIKE = 3.0


class Start(NamedTuple):
    """With how many clusters to begin on each side, how many rounds to run, and h."""

    n_clusters: int
    n_rounds: int
    choice: float


def start_from_signal(total: float, shape: tuple[int, int], epsilon: float) -> Start:
    """Return where to begin, by about how much of ε the counts of a line amplify.

    ``total``: the noisy number of counts. With s = ε · counts of a mean line of the longer side, a
    choice among K clusters needs s to grow as K², since the start is blind and each of its clusters
    holds a K-th of the lines.
    """
    signal = epsilon * max(total, 0.0) / max(shape)
    k = int(np.clip(round(np.sqrt(signal) / 2), _FEWEST_CLUSTERS, MOST_CLUSTERS))
    rounds = _FEWEST_ROUNDS if signal < _LITTLE_SIGNAL else _MOST_ROUNDS
    # Two tables a round, each with noise of √2 / (its share of ε).
    exact = np.sqrt(2) * k**2 * 2 * rounds / (_TABLE_ERROR * epsilon * max(total, 1.0))
    return Start(k, rounds, 1 - float(np.clip(exact, *_TABLE_SHARES)))


def join_alike(
    table: Noisy, rows: Groups, columns: Groups
) -> tuple[Floats, Floats, Groups, Groups]:
    """Join row clusters, and column clusters, that noise and chance explain.

    Return the blocks, their standard errors, and the groups. Relabelling released clusters and
    adding released cells tells nothing new about the counts.
    """
    error = float(table.standard_error)
    high, wide = alike(table.value, error), alike(table.value.T, error)
    shape = high.max() + 1, wide.max() + 1
    blocks, cells = np.zeros(shape), np.zeros(shape)
    np.add.at(blocks, (high[:, None], wide[None]), table.value)
    np.add.at(cells, (high[:, None], wide[None]), 1)
    groups = Groups(high[rows.labels], shape[0]), Groups(wide[columns.labels], shape[1])
    return blocks, error * np.sqrt(cells), *groups


def alike(table: Floats, error: float) -> Indices:
    """Return a number for each row of a table; rows that noise explains as one have the same."""
    sums, noise = table.astype(np.float64), np.full(len(table), error**2)
    labels = np.arange(len(table))
    alive = [*range(len(table))]
    while len(alive) > 1:
        pairs = [(i, j) for at, i in enumerate(alive) for j in alive[at + 1 :]]
        gaps = [_gap(sums[i], sums[j], noise[i], noise[j]) for i, j in pairs]
        nearest = int(np.argmin(gaps))
        if gaps[nearest] > _ALIKE:
            break
        kept, gone = pairs[nearest]
        sums[kept] += sums[gone]
        noise[kept] += noise[gone]
        labels[labels == gone] = kept
        alive.remove(gone)
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.intp)


def _gap(one: Floats, other: Floats, noise: float, others_noise: float) -> float:
    """Return how far two profiles are apart, in deviations of χ² if there is no difference."""
    sums = np.maximum([one.sum(), other.sum()], 1e-9)
    mine, yours = sums[::-1] / sums.sum()
    by_chance = np.maximum(one + other, 0) * mine * yours
    variance = noise * mine**2 + others_noise * yours**2 + by_chance
    freedom = max(len(one) - 1, 1)
    found = float(((one * mine - other * yours) ** 2 / variance).sum())
    return (found - freedom) / float(np.sqrt(2 * freedom))
