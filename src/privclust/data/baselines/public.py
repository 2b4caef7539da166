"""What a baseline may hold of numeric rows: noisy answers to its own questions."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats

__all__ = ["FactorAnswer", "Swap"]


@dataclass(frozen=True)
class Swap:
    """The swap that was picked: which centre leaves, and which candidate takes its place."""

    centre: int
    candidate: int


@dataclass(frozen=True)
class FactorAnswer:
    """Sums over rows v with loadings h on public components, all noised as one vector.

    Attributes
    ----------
    loadings : ndarray of shape (n_components, n_components)
        The sum of h hᵀ.
    products : ndarray of shape (n_components, n_features)
        The sum of h vᵀ.
    standard_error : float
        That of each entry.
    """

    loadings: Floats
    products: Floats
    standard_error: float
