"""Measures of distances between categories: of matrices, of contexts, of rows.

What is judged is fitted models: private ones, or others with the same attributes ``metric_`` and
``contexts_``, such as :class:`privclust.reference.Dilca`, which is usually the exact side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

__all__ = [
    "ContextScores",
    "context_scores",
    "distance_l1",
    "distance_pearson",
    "object_l1",
    "object_pearson",
]

# A matrix whose distances differ by less has no contrast.
_FLAT = 1e-12


def distance_pearson(found: Any, exact: Any) -> float:
    """Return the mean correlation of the distance matrices of all attributes.

    Diagonals are left out, and so are binary attributes, whose correlation is always 1. A matrix
    without any contrast correlates with nothing: it counts as zero.
    """
    values = []
    for name, part in exact.metric_.attributes.items():
        above = np.triu_indices(len(part.labels), 1)
        right = part.distances()[above]
        if len(right) > 1 and right.std() > _FLAT:
            distances = found.metric_[name].distances()[above]
            flat = distances.std() <= _FLAT
            values.append(0.0 if flat else float(np.corrcoef(right, distances)[0, 1]))
    return float(np.mean(values))


def distance_l1(found: Any, exact: Any) -> float:
    """Return the mean absolute difference of the distance matrices of all attributes."""
    values = [
        float(np.abs(part.distances() - found.metric_[name].distances()).mean())
        for name, part in exact.metric_.attributes.items()
    ]
    return float(np.mean(values))


def object_pearson(found: Any, exact: Any, *, rows: Any) -> float:
    """Return the correlation of the distances between all pairs of some rows."""
    return float(np.corrcoef(_between(found, rows), _between(exact, rows))[0, 1])


def object_l1(found: Any, exact: Any, *, rows: Any) -> float:
    """Return the mean absolute difference of the distances between all pairs of some rows."""
    return float(np.abs(_between(found, rows) - _between(exact, rows)).mean())


def _between(model: Any, rows: Any) -> Any:
    return pdist(model.transform(rows))


@dataclass(frozen=True)
class ContextScores:
    """How well contexts agree with the right ones, on average over the attributes.

    Attributes
    ----------
    precision : float
        The share of the chosen attributes that are right.
    recall : float
        The share of the right attributes that are chosen.
    f : float
        The harmonic mean of both.
    adjusted_f : float
        F adjusted for chance: 0 for a random context, 1 for the right one.
    """

    precision: float
    recall: float
    f: float
    adjusted_f: float


def context_scores(
    found: Mapping[str, Sequence[str]],
    right: Mapping[str, Sequence[str]],
    *,
    n_attributes: int,
) -> ContextScores:
    """Compare the contexts of attributes with the right ones, as in the paper on DP-DILCA.

    Parameters
    ----------
    found, right : mapping of str to sequence of str
        The context of each attribute; those of ``right`` are not empty.
    n_attributes : int
        The number of attributes that a table has.

    Notes
    -----
    If all right contexts are of one size, chance is a random context of that size, otherwise a
    random set of any size.
    """
    sizes = {len(context) for context in right.values()}
    scores, expected = [], []
    for name, context in right.items():
        chosen = found[name]
        hits = len(set(context) & set(chosen))
        precision, recall = hits / max(len(chosen), 1), hits / len(context)
        scores.append((precision, recall, 2 * hits / (len(context) + len(chosen))))
        expected.append(_chance_f(len(context), n_attributes - 1, len(sizes) == 1))
    precision, recall, f = (float(mean) for mean in np.mean(scores, axis=0))
    chance = float(np.mean(expected))
    return ContextScores(precision, recall, f, (f - chance) / (1 - chance) if chance < 1 else f)


@cache
def _chance_f(right: int, others: int, same_size: bool) -> float:
    """Return the expected F of a random context, of the size of the right one or of any."""
    total = weight = 0.0
    for hits in range(right + 1):
        for misses in range(others - right + 1):
            size = hits + misses
            if size == right if same_size else size:
                ways = comb(right, hits) * comb(others - right, misses)
                total += ways
                weight += ways * 2 * hits / (right + size)
    return weight / total
