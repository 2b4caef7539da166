"""``Summary``: everything that a published summary answers, without the data and at no cost.

A fitted :class:`privclust.PrivateSummary` answers the same, by the same functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.clustering.any_clusterer import (
    N_ROWS,
    check_clusterer,
    cluster_cells_by,
    words_of_clusterer,
)
from privclust.clustering.choose_k import DEFAULT_RANGE, Choice, choose_n_clusters
from privclust.clustering.dendrogram import Dendrogram
from privclust.clustering.from_cells import (
    as_table,
    most_clusters,
    pull_into_bounds,
    sample_rows,
    sample_table,
)
from privclust.clustering.labelled_cells import with_cell_labels
from privclust.clustering.profiles import Profile, profiles_of
from privclust.clustering.release import (
    NO_SIGNAL,
    NO_TABLES,
    cells_from_release,
    clusters_of,
    column_scales,
    kmeans_release,
    sample_notes,
    synthetic_model,
)
from privclust.exceptions import LowSignalWarning, ParameterError
from privclust.parameters import WHOLE, Whole, check_memory
from privclust.release.facts import Library, center_table
from privclust.release.release import Release, check_kind
from privclust.schema.coordinates import Coordinates

# ``Summary``: everything that a published summary answers, without the data and at no cost.

# The memory that drawing synthetic rows takes, in numbers for each number drawn.
_NUMBERS_PER_ENTRY = 4


class SummaryAnswers:
    """What a summary answers at any time; errors are standard errors of the noise.

    Those of sizes also cover rows at the border of two clusters, and those of the inertia what
    noise adds to it. None covers that offsets were clipped.

    Clusters are numbered from the largest on, the same in every answer for one number of clusters.
    """

    def release(self) -> Release:
        """Return the summary as it is published."""
        raise NotImplementedError

    def centers(self, n_clusters: int) -> Floats:
        """Return k centres of the rows, of shape (n_clusters, n_features)."""
        arrays = self.kmeans(n_clusters).arrays
        return np.array(arrays["cluster_centers"])

    def centers_table(self, n_clusters: int, library: Library = "pandas") -> Any:
        """Return k centres as a data frame: numbers, and a share for each category.

        Parameters
        ----------
        n_clusters : int
        library : {"pandas", "polars", "arrow"}, default="pandas"
        """
        return center_table(self.release().schema, self.centers(n_clusters), library)

    def centers_error(self, n_clusters: int) -> Floats:
        """Return the errors of the coordinates of the centres, of the same shape."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_centers_error"])

    def sizes(self, n_clusters: int) -> Floats:
        """Return unbiased noisy numbers of rows of the k clusters; they may be negative."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_sizes"])

    def sizes_error(self, n_clusters: int) -> Floats:
        """Return the errors of the sizes."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_sizes_error"])

    def inertia(self, n_clusters: int) -> float:
        """Return the approximate inertia of the rows with k centres."""
        return clusters_of(self.release(), n_clusters)[0].inertia

    def inertia_error(self, n_clusters: int) -> float:
        """Return the error of the inertia; it does not cover rows that were clipped."""
        return clusters_of(self.release(), n_clusters)[0].inertia_error

    def choose_k(self, candidates: Iterable[int] = DEFAULT_RANGE) -> Choice:
        """Choose the number of clusters: a number, 1, or no clear number, with the curve.

        Parameters
        ----------
        candidates : iterable of int, default=range(1, 17)
            The numbers to choose among; 1 is always one of them, and numbers that the cells
            cannot tell apart are left out.
        """
        release = self.release()
        choice = choose_n_clusters(cells_from_release(release), candidates, schema=release.schema)
        # Where noise hides the rows, cells are synthetic, and nothing is clear about them.
        return choice if release.signal == "seen" else replace(choice, n_clusters=None)

    def kmeans(self, n_clusters: int) -> Release:
        """Return a k-means release that names this summary, with the same privacy statement.

        Nothing more is spent: it is computed from what is released already.
        """
        return kmeans_release(self.release(), n_clusters)

    def plot(
        self,
        columns: Sequence[str] | None = None,
        *,
        n_clusters: int | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the cells, or the centres of k clusters, and return the axes.

        Parameters
        ----------
        columns : sequence of str or None
            One or two columns of numbers to draw.
        n_clusters : int or None
            How many clusters to draw; the cells if not given.
        ax : matplotlib Axes or None
            Where to draw; a new figure if not given.
        """
        release = self.release() if n_clusters is None else self.kmeans(n_clusters)
        return release.plot(columns, ax=ax)

    def dendrogram(self) -> Dendrogram:
        """Return Ward's tree of the cells: which clusters are parts of which, for every k."""
        release = self.release()
        if most_clusters(cells_from_release(release)) < 2:
            raise ParameterError(
                "A tree needs two cells that stand out from the noise; summarise with a larger "
                "budget."
            )
        return Dendrogram.of(release)

    def cluster(self, estimator: Any, *, n_rows: int = N_ROWS) -> Release:
        """Return clusters by any clusterer of scikit-learn, as a summary that labels new rows.

        The clusterer is fitted to synthetic rows or, if it is of the kind of k-means, to the cells
        and their counts; in either case columns are measured as the summary does: in units of
        their declared widths with a schema, in those of the data with bounds. A new row has the
        label of its nearest cell. Nothing more is spent.

        Parameters
        ----------
        estimator : clusterer or mixture of scikit-learn
            Such as ``HDBSCAN(min_cluster_size=150)``; it is not changed.
        n_rows : int, default=3000
            How many synthetic rows it is fitted to.

        Notes
        -----
        k-means, mixtures, spectral clustering and HDBSCAN find clusters in whatever they are given;
        :meth:`choose_k` and :class:`privclust.PrivateDensity` can say that there is one.
        """
        check_clusterer(estimator)
        WHOLE.check("n_rows", n_rows)
        release = self.release()
        cells, scales = cells_from_release(release), column_scales(release)
        live = cells.counts > 0

        def draw_rows() -> Floats:
            if release.schema.categorical:
                return sample_rows(cells, int(n_rows), np.random.default_rng(0))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowSignalWarning)
                return np.asarray(self.sample(int(n_rows), random_state=0)) / scales

        labels = np.full(len(live), -1, np.intp)
        labels[live] = cluster_cells_by(estimator, cells.cells[live], cells.counts[live], draw_rows)
        return with_cell_labels(release, labels, words_of_clusterer(estimator))

    def profiles(self, n_clusters: int) -> list[Profile]:
        """Return what sets each of k clusters apart from all rows, beyond the noise.

        Histograms come with them if they were paid for and k is the suggested number of clusters.
        """
        release = self.release()
        coordinates, scales = Coordinates(release.schema), column_scales(release)
        clusters, _ = clusters_of(release, n_clusters)
        histograms = self.kmeans(n_clusters).arrays.get("profile_counts")
        widths = coordinates.high - coordinates.low
        return profiles_of(clusters, coordinates.names, scales, widths, release.schema, histograms)

    def sample(self, n_rows: int, random_state: int | None = None) -> Any:
        """Return synthetic rows, of shape (n_rows, n_features); an Arrow table of mixed ones.

        With the tables of ``PrivateSummary(synthetic=True)`` columns spread as those of the data
        do, and pairs of columns go together as they do, as far as noise allows;
        :meth:`sample_notes` says how far. Without, they resemble the rows as the cells do: numbers
        are right in place but not in spread, and a warning says so. A warning also says so if noise
        hid the rows from the summary.

        Parameters
        ----------
        n_rows : int
            How many; it has nothing to do with the number of private rows.
        random_state : int or None
            A number makes the rows reproducible; they are as private as the summary either way.
        """
        WHOLE.check("n_rows", n_rows)
        Whole(0).check("random_state", random_state, also=(None,))
        release = self.release()
        if release.signal != "seen":
            warnings.warn(NO_SIGNAL, LowSignalWarning, stacklevel=2)
        needed = _NUMBERS_PER_ENTRY * 8.0 * int(n_rows) * release.arrays["cells"].shape[1]
        check_memory(needed, "ask for fewer rows at a time")
        rng = np.random.default_rng(random_state)
        if "histogram_counts" not in release.arrays and release.schema.numeric:
            warnings.warn(NO_TABLES, LowSignalWarning, stacklevel=2)
        cells, scales, schema = cells_from_release(release), column_scales(release), release.schema
        model = synthetic_model(release)
        if model is not None:
            drawn = model.drawn(int(n_rows), rng)
            if schema.categorical:
                return as_table(schema, drawn, rng)
            rows = np.column_stack(list(drawn.values())).astype(np.float64)
        elif schema.categorical:
            return sample_table(cells, schema, scales, int(n_rows), rng)
        else:
            rows = sample_rows(cells, int(n_rows), rng) * scales
        return pull_into_bounds(rows, schema)

    def sample_notes(self) -> tuple[str, ...]:
        """Say how far synthetic rows can be trusted, a sentence each.

        About how far noise moves a column and a pair of columns, which values were pooled, which
        tables noise hid, and whether there are tables at all.
        """
        return sample_notes(self.release())


class Summary(SummaryAnswers):
    """A published summary, which answers further questions without the data.

    Parameters
    ----------
    release : Release
        Of the kind "summary", such as ``Release.load("summary/")``.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateSummary
    >>> from privclust.clustering import Summary
    >>> rows = np.random.default_rng(0).uniform(0, 8, (5000, 2))
    >>> published = PrivateSummary(epsilon=1.0, bounds=(0, 8)).fit(rows).release()
    >>> Summary(published).centers(3).shape
    (3, 2)
    """

    def __init__(self, release: Release) -> None:
        self._release = check_kind(release, "summary")

    def release(self) -> Release:
        """Return the summary as it is published."""
        return self._release
