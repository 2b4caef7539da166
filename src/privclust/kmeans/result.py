"""What every k-means algorithm returns, in the coordinates of the unit ball."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.data.view import Noisy

__all__ = ["KMeansResult"]


@dataclass(frozen=True)
class KMeansResult:
    """What a run releases.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
    sizes : Noisy, value of shape (n_clusters,)
        The numbers of rows nearest to each centre.
    warnings : tuple of str
        Why the centres should not be trusted, if so.
    profiles : Noisy or None, value of shape (n_clusters, n_numbers, n_cells)
        Histograms of the numbers of each cluster, if they were paid for.
    """

    centres: Floats
    sizes: Noisy
    warnings: tuple[str, ...] = ()
    profiles: Noisy | None = None
