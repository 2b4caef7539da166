"""What the methods return: ``KMeansResult`` and ``Cells``, released values only.

Lengths are those of the model's metric: units of the data, or declared widths if it rescales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from privclust._typing import Floats, Indices
from privclust.categories.metric import CategoricalMetric
from privclust.clustering.measuring import Working
from privclust.clustering.missing import MissingCounts
from privclust.clustering.tables import Tables
from privclust.data.public import Noisy
from privclust.notes import Note

# What every k-means algorithm returns, in the coordinates of the unit ball.


@dataclass(frozen=True)
class LearnedCenters:
    """Centres that were found by a learned metric, on the axes of that metric."""

    places: Floats  # (n_clusters, n_axes)
    # (n_values, n_axes): the values of all columns as points of the axes; a row is the sum of its
    # values. Numbers stand in bins.
    values: Floats
    # (n_clusters, n_coordinates): what the places say about every column: numbers and shares.
    table: Floats
    metric: CategoricalMetric  # the distances between categories, as they were learned
    cell_error: float  # the standard error of the noise on a cell of the tables it is from


@dataclass(frozen=True)
class KMeansResult:
    """What a run releases."""

    # (n_clusters, n_features): the errors are standard errors of the noise, and by most methods of
    # what the last step leaves out; None if they are not known.
    centres: Floats
    centres_error: Floats | None
    sizes: Noisy  # (n_clusters,): the numbers of rows nearest to each centre
    method: str  # the algorithm that ran
    notes: tuple[Note, ...] = ()  # reasons not to trust the centres, if any
    verdict: str = ""  # what was found about the number of clusters, if it was chosen
    # What is released instead of the centres, if they lie on the axes of a learned metric.
    learned: LearnedCenters | None = None
    # (n_clusters, n_numbers, n_cells): histograms of the numbers of each cluster, if they were paid
    # for.
    profiles: Noisy | None = None
    # Measured ranges that the centres lie within, if they were paid for.
    working: Working | None = None
    missing: MissingCounts | None = None  # how many values rules stood for, if that was asked


@dataclass(frozen=True)
class Cells:
    """Cells that represent the rows near them, with the noise of each number."""

    cells: Floats  # (n_cells, n_features): where they lie
    counts: Floats  # (n_cells,): about how many rows each represents; at least zero
    counts_error: float  # the standard error of a count
    # (n_cells,): the variance of the noise of each place, along one of the axes that rows were seen
    # along.
    variances: Floats
    # (n_features,): how much of such an axis lies in each column; ones if the axes are the columns.
    column_shares: Floats
    groups: Indices  # (n_cells,): the group with which a cell was moved in all columns
    group_variances: Floats  # (n_groups,): the variance of the noise of that move, in each column
    # (n_raw,): noisy counts as they came, also of cells in which noise hides the rows: for unbiased
    # sizes.
    raw_counts: Floats
    raw_counts_error: float  # the standard error of each of them
    raw_cells: Indices  # (n_raw,): the cell in which the rows of each of them are counted
    # The noisy number of rows.
    n_rows: float
    n_rows_error: float
    # The mean square distance of a row to its nearest cell.
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

    def rescale(self, length: float, **changes: Any) -> Cells:
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
    """Histograms that were paid for, of the clusters that the cells suggest."""

    # (n_clusters, n_features): the centres of the clusters, in the units of the data.
    centers: Floats
    counts: Noisy  # (n_clusters, n_numbers, n_cells)


@dataclass(frozen=True)
class SummaryResult:
    """What a run releases, in the coordinates of the unit ball."""

    cells: Cells
    notes: tuple[Note, ...] = ()  # reasons not to trust the cells, if any
    # Whether rows seem to lie farther from their cell than the spread within cells suggests.
    misses_far_rows: bool = False
    profiles: ClusterProfiles | None = None  # histograms, if they were paid for
    # Measured ranges that the cells lie within, if they were paid for.
    working: Working | None = None
    tables: Tables | None = None  # what synthetic rows are made of, if it was paid for
    missing: MissingCounts | None = None  # how many values rules stood for, if that was asked
