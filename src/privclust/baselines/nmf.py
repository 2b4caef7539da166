"""DPNMF of Saha and Imtiaz (2024), correct: V ≈ H W with non-negative factors, of which W is kept.

Every step asks once, with public components W, for the sums of h hᵀ and h vᵀ over all rows v and
their own loadings h, and improves W by what is answered. Unlike in the authors' notebook, the start
is drawn without data, rows and loadings are bounded at the door, the number of steps is fixed, and
all of them together cost the budget. ``proofs/baselines.md``.
"""

from __future__ import annotations

import math

import numpy as np

from privclust._typing import Floats
from privclust.baselines.questions.public import FactorAnswer
from privclust.baselines.questions.view import BaselinesView
from privclust.budget import Share
from privclust.data.points.public import Projection
from privclust.kmeans.result import KMeansResult

__all__ = ["ask_factors"]

_SIZES = 0.03
_SWEEPS = 5
_LEAST_LENGTH = 0.05


def ask_factors(
    view: BaselinesView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_steps: int,
) -> KMeansResult:
    """Factorise the rows of ``view`` within ``budget``.

    The centres are the components, brought to one length: the nearest of them is the one with the
    largest inner product.
    """
    for_steps, for_sizes = budget.split([1 - _SIZES, _SIZES])
    dimension = view.domain.dimension
    components = _of_length_one(np.abs(rng.standard_normal((n_clusters, dimension))))
    for number, share in enumerate(for_steps.split([1] * n_steps), start=1):
        answer = view.ask_factor_sums(f"factors, step {number}", components, share)
        components = _improved(components, answer)
    whole = Projection(np.zeros(dimension))
    sizes = view.ask_clusters("cluster sizes", whole, components, 1.0, counts=for_sizes).counts
    energy = float(np.trace(answer.loadings)) / max(float(sizes.value.sum()), 1.0)
    centres = components * math.sqrt(np.clip(energy, _LEAST_LENGTH**2, 1.0))
    return KMeansResult(centres, None, sizes, "nmf")


def _improved(components: Floats, answer: FactorAnswer) -> Floats:
    """Return the components that explain the products best, one after the other."""
    better, noise = components.copy(), answer.standard_error
    for _ in range(_SWEEPS):
        for k, square in enumerate(np.diag(answer.loadings)):
            if square <= noise:  # noise hides who uses this component
                continue
            left = answer.products[k] - answer.loadings[k] @ better + square * better[k]
            moved = np.maximum(left / square, 0)
            if moved.any():
                better[k] = moved
        better = _of_length_one(better)
    return better


def _of_length_one(components: Floats) -> Floats:
    return np.asarray(components / np.linalg.norm(components, axis=1, keepdims=True))
