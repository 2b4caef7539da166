"""Any clusterer of scikit-learn on a summary: what it finds, labels and says about itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privclust import Box, Categories, PrivateSummary, Release, Schema
from privclust.clustering import Summary
from privclust.exceptions import ReleaseError

BLOBS, GROUPS = make_blobs(
    6000, centers=[[-4, -4], [-4, 4], [4, 0], [5.5, 1]], cluster_std=0.4, random_state=0
)


@pytest.fixture(scope="module")
def summary():
    return PrivateSummary(epsilon=2.0, bounds=(-8, 8), random_state=0).fit(BLOBS)


MOONS, HALVES = make_moons(10_000, noise=0.05, random_state=0)
CLUSTERERS = [
    (KMeans(4, n_init=3, random_state=0), 0.9),
    (GaussianMixture(4, random_state=0), 0.8),
    (make_pipeline(StandardScaler(), KMeans(4, n_init=3, random_state=0)), 0.8),
    (AgglomerativeClustering(4), 0.8),
    (HDBSCAN(min_cluster_size=100, copy=True), 0.7),
]


@pytest.mark.parametrize(("clusterer", "agreement"), CLUSTERERS, ids=lambda it: type(it).__name__)
def test_any_clusterer_labels_new_rows_and_says_where_it_came_from(summary, clusterer, agreement):
    labelled = summary.cluster(clusterer)
    assert labelled.parameters["summary"] == summary.release().digest
    assert type(clusterer).__name__ in labelled.parameters["clusterer"]
    assert labelled.privacy == summary.privacy_
    assert adjusted_rand_score(GROUPS, labelled.predict(BLOBS)) > agreement
    counts = np.array([(labelled.predict(BLOBS) == k).sum() for k in range(3)])
    assert (np.diff(counts) <= 150).all()  # the largest first, as far as noise knows


def test_moons_are_found_in_a_summary():
    model = PrivateSummary(epsilon=1.0, bounds=([-1.5, -1], [2.5, 1.5]), random_state=0).fit(MOONS)
    for clusterer in (DBSCAN(eps=0.15), HDBSCAN(min_cluster_size=150, copy=True)):
        labels = model.cluster(clusterer, n_rows=2000).predict(MOONS)
        assert adjusted_rand_score(HALVES, labels) > 0.8


def test_mixed_rows_are_clustered_too():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 4000)
    frame = pd.DataFrame(
        {"x": np.clip(rng.normal(0.25 + 0.5 * kind, 0.05), 0, 1), "c": np.array(list("ab"))[kind]}
    )
    schema = Schema({"x": Box(0, 1), "c": Categories(["a", "b"])})
    model = PrivateSummary(epsilon=2.0, schema=schema, random_state=0).fit(frame)
    for labelled in (model.cluster(GaussianMixture(2, random_state=0)), model.dendrogram().cut(2)):
        assert adjusted_rand_score(kind, labelled.predict(frame)) > 0.9


def test_a_labelled_summary_is_saved_and_a_bare_one_labels_nothing(summary, tmp_path):
    labelled = summary.cluster(KMeans(3, n_init=1, random_state=0))
    labelled.save(tmp_path / "labelled")
    loaded = Release.load(tmp_path / "labelled")
    np.testing.assert_array_equal(loaded.predict(BLOBS), labelled.predict(BLOBS))
    assert Summary(loaded).centers(2).shape == (2, 2)
    with pytest.raises(ReleaseError, match="labels rows once its cells are clustered"):
        summary.release().predict(BLOBS)


def test_damaged_labels_are_refused(summary):
    release = summary.release()
    with pytest.raises(ReleaseError, match="whole number from -1 on for each cell"):
        Release(
            kind="summary",
            arrays={**release.arrays, "cell_labels": np.zeros(2)},
            schema=release.schema,
            parameters=release.parameters,
            privacy=release.privacy,
        )


def test_a_clusterer_that_finds_nothing_leaves_a_report_that_says_so(summary):
    found = summary.cluster(DBSCAN(eps=1e-9, min_samples=100), n_rows=200)
    assert "The clusterer found no clusters" in found.to_html()
    assert "DBSCAN(eps=1e-09, min_samples=100) as clusterer" in repr(found)
