"""The shortlist: three numbers of clusters worth a look, best first, and how they differ.

It helps a reader if there is no clear number; it is not a verdict. First comes the suggestion;
then numbers that are stable and separate the rows nearly as well as any, the largest first; the
others follow by the product of both. The cells that part show what changes from one number to the
next. All of it is post-processing of released cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Indices

_LENGTH = 3
# Chosen among sixteen pairs on 36 generated sets; other sets are reported on.
_STABLE, _NEAR_THE_BEST = 0.85, 0.92
# A part of a cluster with this share of its rows is a part of its own.
_PART = 0.2


@dataclass(frozen=True)
class Candidate:
    """A number of clusters worth a look."""

    n_clusters: int
    stability: float  # the mean adjusted Rand index of redraws; one for a single cluster
    beside: int  # the next smaller number of the list, or 1
    # The clusters of that smaller number, from the largest on, whose rows part.
    splits: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """How stable it is and what it splits, in a line."""
        if self.n_clusters == 1:
            return "1: all rows together"
        sentence = f"{self.n_clusters}: stability {self.stability:.2f}"
        if self.beside == 1:
            return sentence
        parted = " and ".join(map(str, self.splits)) or "none cleanly"
        return f"{sentence}; of the {self.beside} clusters it splits {parted}"


def shortlist_of(
    ks: Sequence[int],
    separation: Floats,
    stability: Floats,
    labels: Mapping[int, Indices],
    weights: Floats,
    suggestion: int,
) -> tuple[Candidate, ...]:
    """Return the shortlist.

    ``separation``, ``stability``: (len(ks). ``labels``: (n_cells,), for each number the clusters of
    the cells, from the largest on. ``weights``: (n_cells,).
    """
    known = dict(zip(ks, np.nan_to_num(stability).tolist(), strict=True))
    ranked = _rank(ks, separation, np.nan_to_num(stability))
    taken = [suggestion, *(k for k in ranked if k not in (1, suggestion))][:_LENGTH]
    found = []
    for k in taken:
        beside = max((other for other in taken if other < k), default=1)
        splits = _splits(labels[beside], labels[k], weights)
        found.append(Candidate(k, known[k], beside, splits))
    return tuple(found)


def _rank(ks: Sequence[int], separation: Floats, stability: Floats) -> list[int]:
    """Return the numbers, best first."""
    numbers = np.array(ks)
    relative = separation / max(float(separation.max()), 1e-300)
    good = (numbers > 1) & (stability >= _STABLE) & (relative >= _NEAR_THE_BEST)
    score = np.where(good, 2.0 + numbers, stability * relative)
    return [int(k) for k in numbers[np.argsort(-score, kind="stable")]]


def _splits(few: Indices, many: Indices, weights: Floats) -> tuple[int, ...]:
    """Return the clusters of the smaller number that fall into several of the larger."""
    table = np.zeros((int(few.max()) + 1, int(many.max()) + 1))
    np.add.at(table, (few, many), weights)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    return tuple(int(label) for label in np.flatnonzero((shares >= _PART).sum(axis=1) > 1))
