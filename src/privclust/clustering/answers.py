"""``Summary``: everything that a published summary answers, without the data and at no cost.

A fitted :class:`privclust.PrivateSummary` answers the same, by the same functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.clustering.choose_k import DEFAULT_RANGE, Choice, choose_n_clusters
from privclust.clustering.from_cells import as_table, sample_rows, sample_table
from privclust.clustering.profiles import Profile, profiles_of
from privclust.clustering.release import (
    cells_from_release,
    clusters_of,
    column_scales,
    kmeans_release,
    synthetic_model,
)
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError
from privclust.parameters import WHOLE, Whole, check_memory
from privclust.release.facts import Library, center_table
from privclust.release.release import Release
from privclust.schema.coordinates import Coordinates

# ``Summary``: everything that a published summary answers, without the data and at no cost.

# The memory that drawing synthetic rows takes, in numbers for each number drawn.
_NUMBERS_PER_ENTRY = 4

_NO_SIGNAL = (
    "Noise hid the rows when this summary was made, so that synthetic rows say nothing about them; "
    "summarise with a larger budget."
)


_NO_TABLES = (
    "These synthetic rows come from cells alone: numbers are right in place but not in spread, and "
    "two columns together may be further off than independent ones; fit with synthetic=True."
)


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
            warnings.warn(_NO_SIGNAL, LowSignalWarning, stacklevel=2)
        needed = _NUMBERS_PER_ENTRY * 8.0 * int(n_rows) * release.arrays["cells"].shape[1]
        check_memory(needed, "ask for fewer rows at a time")
        rng = np.random.default_rng(random_state)
        if "histogram_counts" not in release.arrays and release.schema.numeric:
            warnings.warn(_NO_TABLES, LowSignalWarning, stacklevel=2)
        cells, scales, schema = cells_from_release(release), column_scales(release), release.schema
        model = synthetic_model(release)
        if model is not None:
            drawn = model.drawn(int(n_rows), rng)
            if schema.categorical:
                return as_table(schema, drawn, rng)
            rows = np.column_stack(list(drawn.values()))
        elif schema.categorical:
            return sample_table(cells, schema, scales, int(n_rows), rng)
        else:
            rows = sample_rows(cells, int(n_rows), rng) * scales
        ball = schema.ball
        if ball is not None:
            gaps = rows - np.array(ball.center)
            lengths = np.maximum(np.linalg.norm(gaps, axis=1, keepdims=True), 1e-300)
            rows = np.array(ball.center) + gaps * np.minimum(1, float(ball.radius) / lengths)
        return np.clip(rows, schema.low, schema.high)

    def sample_notes(self) -> tuple[str, ...]:
        """Say how far synthetic rows can be trusted, a sentence each.

        About how far noise moves a column and a pair of columns, which values were pooled, which
        tables noise hid, and whether there are tables at all.
        """
        release = self.release()
        model = synthetic_model(release)
        sentences = [] if release.signal == "seen" else [_NO_SIGNAL]
        if model is not None:
            return (*sentences, *model.sentences)
        return (*sentences, _NO_TABLES) if release.schema.numeric else tuple(sentences)


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
        if not isinstance(release, Release):
            raise ParameterError(
                f"A summary is read from a Release, got {type(release).__name__}; give "
                "Release.load(PATH)."
            )
        if release.kind != "summary":
            raise ReleaseError(
                f"A release of the kind {release.kind!r} is not a summary; give one of the kind "
                "'summary'."
            )
        self._release = release

    def release(self) -> Release:
        """Return the summary as it is published."""
        return self._release
