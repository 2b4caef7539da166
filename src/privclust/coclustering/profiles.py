"""Co-clustering when whole rows are protected: only sums over groups of rows are ever released.

Rows are compared with public prototypes behind the door, and the noisy sums of the profiles of the
rows nearest to each one become the next prototypes. Which row went where is never released. The
block totals are a question of their own: the column clusters are picked by the noise of the last
sums, and totals added up from them would show τ where there is none.

Few prototypes start badly and stay where they started; many are each lost in noise. So the sum of
all profiles is asked for first, and its length says how many rounds and prototypes can be paid for.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from privclust.budget import Share
from privclust.coclustering.columns import column_clusters
from privclust.coclustering.prototypes import (
    distinguishing,
    first_prototypes,
    joined,
    masses,
    next_prototypes,
    signal_length,
    unit,
)
from privclust.coclustering.result import CoclusteringResult
from privclust.data.matrix.view import ProfilesView
from privclust.data.view import Noisy

__all__ = ["MOST_PROTOTYPES", "ask_row_clusters", "rounds_for"]


# The shares of the sum of all profiles, and of the block totals, which are few and large.
_ALL, _BLOCKS = 0.1, 0.05
# Prototypes for each cluster, round by round, and the signal from which the next line is taken.
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
    rounds = rounds_for(totals, n_row_clusters)
    prototypes = first_prototypes(totals, rounds[0] * n_row_clusters, rng)
    for number, share in enumerate(for_rounds.split([1] * len(rounds)), start=1):
        sums = view.ask_profile_sums(f"profiles, round {number}", prototypes, share)
        totals = joined(totals, sums)
        lines = distinguishing(sums, totals)
        if number < len(rounds):
            count = rounds[number] * n_row_clusters
            prototypes = next_prototypes(lines, masses(sums, totals), count, rng)
    prototypes = unit(lines)
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


def rounds_for(totals: Noisy, n_clusters: int) -> tuple[int, ...]:
    """Return how many prototypes each cluster has in each round.

    The signal is the length of the sum of all profiles, for each cluster, in standard errors of the
    answer that the whole budget would buy. The more clusters there are, the more directions must be
    told from noise, whose length in them grows with the root of their number.

    Parameters
    ----------
    totals : Noisy, value of shape (n_columns,)
        The sum of all profiles.
    n_clusters : int
        The number of row clusters.
    """
    error = totals.standard_error * np.sqrt(_ALL)
    signal = signal_length(totals) / (n_clusters**1.5 * error)
    return _ROUNDS[bisect_right(_MORE_FROM, signal)]


def _directions(sums: Noisy) -> int:
    """Return how many directions of the last sums stand out, other than what all have in common."""
    strengths = np.linalg.eigvalsh(sums.value @ sums.value.T)
    height, width = sums.value.shape
    edge = (np.sqrt(height) + np.sqrt(width)) ** 2 * sums.standard_error**2
    return max(0, int((strengths > _ABOVE_EDGE * edge).sum()) - 1)
