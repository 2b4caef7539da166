"""``Density``: clusters of any shape from a published density, without the data and at no cost.

A fitted :class:`privclust.PrivateDensity` answers the same, by the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from privclust._typing import Floats, Indices
from privclust.clustering.any_clusterer import (
    N_ROWS,
    check_clusterer,
    cluster_cells_by,
    words_of_clusterer,
)
from privclust.density.grid_counts import CountedGrid
from privclust.density.persistence import Merge, find_clusters
from privclust.density.predicting import label_by_cell
from privclust.density.release import counts_from_release, with_cell_labels
from privclust.density.smooth import smooth
from privclust.parameters import SHARE, WHOLE, Whole
from privclust.release.release import Release, check_kind
from privclust.reports.values import count_of
from privclust.schema.schema import Schema


@dataclass(frozen=True, repr=False)
class DensityClusters:
    """Clusters of a density, the largest first.

    Attributes
    ----------
    n_clusters : int
        1 if there is no structure beyond the noise.
    cell_labels : ndarray of int, of the shape of the grid
        The cluster of each cell; -1 where rows do not stand out from the noise.
    sizes, sizes_error : ndarray of shape (n_clusters,)
        Noisy numbers of rows in the cells of each cluster, and the standard errors of the noise.
    persistence : tuple of Merge
        Where peaks meet, the strongest first: how dense peak and saddle are, how significant the
        difference is, and whether they stay apart.
    verdict : str
        What was found, in a sentence.
    """

    n_clusters: int
    cell_labels: Indices
    sizes: Floats
    sizes_error: Floats
    persistence: tuple[Merge, ...]
    verdict: str
    _counted: CountedGrid
    _schema: Schema

    def __repr__(self) -> str:
        cells = " × ".join(map(str, self.cell_labels.shape))
        return f"<Clusters of a density of {cells} cells: {self.verdict}>"

    def predict(self, X: Any, noise: bool = True) -> npt.NDArray[np.int64]:
        """Return the cluster of each row's cell.

        Parameters
        ----------
        X : array, data frame, Arrow data or path of a file
        noise : bool, default=True
            Whether rows where the density does not stand out are -1; else they have the cluster
            of the nearest cell that has one.
        """
        labels = self.cell_labels if noise else fill_labels(self.cell_labels)
        parts = [*label_by_cell(X, self._schema, self._counted.grid, labels)]
        return np.concatenate(parts)


def fill_labels(labels: Indices) -> Indices:
    """Return the labels with that of the nearest labelled cell in place of -1."""
    if (labels < 0).all():
        return np.zeros_like(labels)
    nearest = ndimage.distance_transform_edt(
        labels < 0, return_distances=False, return_indices=True
    )
    return np.asarray(labels[tuple(nearest)])


def clusters_of_density(
    release: Release, n_clusters: int | None = None, least: float | None = None
) -> DensityClusters:
    """Return the clusters of a density release."""
    WHOLE.check("n_clusters", n_clusters, also=(None,))
    SHARE.check("least", least, also=(None,))
    counted = counts_from_release(release)
    smallest = counted.least if least is None else float(least)
    found = find_clusters(counted, None if n_clusters is None else int(n_clusters), smallest)
    labels, seen = found.labels, found.labels >= 0
    cells = np.bincount(labels[seen], minlength=found.n_clusters)
    return DensityClusters(
        found.n_clusters,
        labels,
        np.bincount(labels[seen], counted.counts[seen], found.n_clusters).astype(np.float64),
        counted.counts_error * np.sqrt(cells),
        found.merges,
        _verdict(found.n_clusters, n_clusters, found.merges),
        counted,
        release.schema,
    )


def _verdict(found: int, asked: int | None, merges: tuple[Merge, ...]) -> str:
    if asked is not None:
        weak = sum(merge.apart and merge.strength < 1 for merge in merges)
        doubt = f"; {weak} of them might be noise" if weak else ""
        return f"{count_of(found, 'cluster')}, as asked{doubt}."
    if found == 1:
        return "One cluster: there is no structure beyond the noise."
    return f"{found} clusters stand out from the noise."


class DensityAnswers:
    """What a density answers at any time, at no further cost."""

    def release(self) -> Release:
        """Return the density as it is published."""
        raise NotImplementedError

    def clusters(
        self, n_clusters: int | None = None, least: float | None = None
    ) -> DensityClusters:
        """Return the clusters that stand out from the noise, or as many as are asked for.

        Parameters
        ----------
        n_clusters : int or None, default=None
            How many; None for those that stand out. One cluster is an answer too.
        least : float or None, default=None
            The smallest share of the rows that is a cluster, if the number is not given; None for
            the one that the fit was asked for.
        """
        return clusters_of_density(self.release(), n_clusters, least)

    def sample(self, n_rows: int, random_state: int | None = None) -> Floats:
        """Return synthetic rows, of shape (n_rows, n_features), where the rows stand out.

        Parameters
        ----------
        n_rows : int
            How many; it has nothing to do with the number of private rows.
        random_state : int or None
            A number makes the rows reproducible; they are as private as the density either way.
        """
        WHOLE.check("n_rows", n_rows)
        Whole(0).check("random_state", random_state, also=(None,))
        rng, schema = np.random.default_rng(random_state), self.release().schema
        counted = counts_from_release(self.release())
        cells, weights = _foreground(counted)
        drawn = rng.choice(cells, int(n_rows), p=weights / weights.sum())
        return np.clip(counted.grid.spread(drawn, rng), schema.low, schema.high)

    def cluster(self, estimator: Any, *, n_rows: int = N_ROWS) -> Release:
        """Return clusters by any clusterer of scikit-learn, as a density that labels new rows.

        The clusterer is fitted to synthetic rows or, if it is of the kind of k-means, to the cells
        that stand out and their counts; in either case columns are in units of their declared
        widths. Nothing more is spent.

        Parameters
        ----------
        estimator : clusterer or mixture of scikit-learn
            Such as ``HDBSCAN(min_cluster_size=50)``; it is not changed.
        n_rows : int, default=3000
            How many synthetic rows it is fitted to.
        """
        check_clusterer(estimator)
        WHOLE.check("n_rows", n_rows)
        release, counted = self.release(), counts_from_release(self.release())
        scales = release.schema.high - release.schema.low
        cells, weights = _foreground(counted)
        found = cluster_cells_by(
            estimator,
            counted.grid.middles[cells] / scales,
            weights,
            lambda: self.sample(int(n_rows), random_state=0) / scales,
        )
        labels = np.full(counted.counts.size, -1, np.intp)
        known = np.zeros(counted.counts.size, bool)
        labels[cells], known[cells] = found, True
        near = ndimage.distance_transform_edt(
            ~known.reshape(counted.grid.sides), return_distances=False, return_indices=True
        )
        labels = labels.reshape(counted.grid.sides)[tuple(near)]
        return with_cell_labels(release, labels, words_of_clusterer(estimator))


def _foreground(counted: CountedGrid) -> tuple[Indices, Floats]:
    """Return the cells that stand out, and their density; of none, all cells alike."""
    seen = smooth(counted)
    cells = np.flatnonzero(seen.foreground(0.0))
    if not len(cells):
        return np.arange(counted.counts.size), np.ones(counted.counts.size)
    return cells, seen.density.ravel()[cells]


class Density(DensityAnswers):
    """A published density, which answers further questions without the data.

    Parameters
    ----------
    release : Release
        Of the kind "density", such as ``Release.load("density/")``.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateDensity
    >>> from privclust.density import Density
    >>> rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 5000, 0.3)
    >>> published = PrivateDensity(epsilon=1.0, bounds=(0, 8)).fit(rows).release()
    >>> Density(published).clusters().n_clusters
    2
    """

    def __init__(self, release: Release) -> None:
        self._release = check_kind(release, "density")

    def release(self) -> Release:
        """Return the density as it is published."""
        return self._release
