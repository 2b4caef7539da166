"""What every k-means algorithm returns, in the coordinates of the unit ball."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.data.view import Noisy
from privclust.notes import Note

__all__ = ["KMeansResult", "LearnedCenters"]


@dataclass(frozen=True)
class LearnedCenters:
    """Centres that were found by a learned metric, on the axes of that metric.

    Attributes
    ----------
    places : ndarray of shape (n_clusters, n_axes)
    values : ndarray of shape (n_values, n_axes)
        The values of all columns as points of the axes; a row is the sum of its values. Numbers
        stand in bins.
    table : ndarray of shape (n_clusters, n_coordinates)
        What the places say about every column: numbers and shares.
    """

    places: Floats
    values: Floats
    table: Floats


@dataclass(frozen=True)
class KMeansResult:
    """What a run releases.

    Attributes
    ----------
    centres, centres_error : ndarray of shape (n_clusters, n_features)
        The errors are standard errors of the noise, and by most methods of what the last step
        leaves out; None if they are not known.
    sizes : Noisy, value of shape (n_clusters,)
        The numbers of rows nearest to each centre.
    method : str
        The algorithm that ran.
    notes : tuple of Note
        Reasons not to trust the centres, if any.
    verdict : str
        What was found about the number of clusters, if it was chosen.
    learned : LearnedCenters or None
        What is released instead of the centres, if they lie on the axes of a learned metric.
    profiles : Noisy or None, value of shape (n_clusters, n_numbers, n_cells)
        Histograms of the numbers of each cluster, if they were paid for.
    """

    centres: Floats
    centres_error: Floats | None
    sizes: Noisy
    method: str
    notes: tuple[Note, ...] = ()
    verdict: str = ""
    learned: LearnedCenters | None = None
    profiles: Noisy | None = None
