"""What the methods return: ``KMeansResult`` and ``Cells``, released values only.

Lengths are those of the model's metric: units of the data, or declared widths if it rescales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from privclust._typing import Floats, Indices
from privclust.clustering.measuring import Working
from privclust.clustering.tables import Tables
from privclust.data.public import Noisy
from privclust.notes import Note

# What every k-means algorithm returns, in the coordinates of the unit ball.


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
    working : Working or None
        Measured ranges that the centres lie within, if they were paid for.
    """

    centres: Floats
    centres_error: Floats | None
    sizes: Noisy
    method: str
    notes: tuple[Note, ...] = ()
    verdict: str = ""
    learned: LearnedCenters | None = None
    profiles: Noisy | None = None
    working: Working | None = None


@dataclass(frozen=True)
class Cells:
    """Cells that stand for the rows near them, with the noise of each number.

    Attributes
    ----------
    cells : ndarray of shape (n_cells, n_features)
        Where they lie.
    counts : ndarray of shape (n_cells,)
        About how many rows each stands for; at least zero.
    counts_error : float
        The standard error of a count.
    variances : ndarray of shape (n_cells,)
        The variance of the noise of each place, along one of the axes that rows were seen along.
    column_shares : ndarray of shape (n_features,)
        How much of such an axis lies in each column; ones if the axes are the columns.
    groups : ndarray of shape (n_cells,)
        The group with which a cell was moved in all columns.
    group_variances : ndarray of shape (n_groups,)
        The variance of the noise of that move, in each column.
    raw_counts : ndarray of shape (n_raw,)
        Noisy counts as they came, also of cells in which noise hides the rows: for unbiased sizes.
    raw_counts_error : float
        The standard error of each of them.
    raw_cells : ndarray of shape (n_raw,)
        The cell in which the rows of each of them are counted.
    n_rows, n_rows_error : float
        The noisy number of rows.
    within, within_error : float
        The mean square distance of a row to its nearest cell.
    """

    cells: Floats
    counts: Floats
    counts_error: float
    variances: Floats
    column_shares: Floats
    groups: Indices
    group_variances: Floats
    raw_counts: Floats
    raw_counts_error: float
    raw_cells: Indices
    n_rows: float
    n_rows_error: float
    within: float
    within_error: float

    @property
    def noise(self) -> Floats:
        """The variance of the noise of each cell's place, in each column."""
        return self.variances[:, None] * self.column_shares + self.of_group[:, None]

    @property
    def of_group(self) -> Floats:
        """The variance of the move of each cell's group."""
        return self.group_variances[self.groups]

    def scaled(self, length: float, **changes: Any) -> Cells:
        """Return the same cells in a metric in which the current unit is ``length`` long."""
        square = length**2
        return replace(
            self,
            **{"cells": self.cells * length, **changes},
            variances=self.variances * square,
            group_variances=self.group_variances * square,
            within=self.within * square,
            within_error=self.within_error * square,
        )


@dataclass(frozen=True)
class ClusterProfiles:
    """Histograms that were paid for, of the clusters that the cells suggest.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The centres of the clusters, in the units of the data.
    counts : Noisy, value of shape (n_clusters, n_numbers, n_cells)
    """

    centers: Floats
    counts: Noisy


@dataclass(frozen=True)
class SummaryResult:
    """What a run releases, in the coordinates of the unit ball.

    Attributes
    ----------
    cells : Cells
    notes : tuple of Note
        Reasons not to trust the cells, if any.
    misses_far_rows : bool
        Whether rows seem to lie farther from their cell than the spread within cells suggests.
    profiles : ClusterProfiles or None
        Histograms, if they were paid for.
    working : Working or None
        Measured ranges that the cells lie within, if they were paid for.
    tables : Tables or None
        What synthetic rows are made of, if it was paid for.
    """

    cells: Cells
    notes: tuple[Note, ...] = ()
    misses_far_rows: bool = False
    profiles: ClusterProfiles | None = None
    working: Working | None = None
    tables: Tables | None = None
