"""What every k-means algorithm returns, in the coordinates of the unit ball."""

from __future__ import annotations

from dataclasses import dataclass

from privclust.data.points import Floats
from privclust.data.view import Noisy

__all__ = ["KMeansResult"]


@dataclass(frozen=True)
class KMeansResult:
    """Released centres of shape (n_clusters, n_features) and the noisy sizes of their clusters."""

    centres: Floats
    sizes: Noisy
