"""Ward's tree of released cells: scipy's, with weights, and with what noise explains."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from privclust import PrivateSummary
from privclust.clustering.dendrogram import link_cells
from privclust.clustering.release import cells_from_release
from privclust.exceptions import LowSignalWarning, ParameterError

BLOBS, GROUPS = make_blobs(
    6000, centers=[[-4, -4], [-4, 4], [4, 0], [5.5, 1]], cluster_std=0.4, random_state=0
)


@pytest.fixture(scope="module")
def summary():
    return PrivateSummary(epsilon=2.0, bounds=(-8, 8), random_state=0).fit(BLOBS)


def cells_at(summary, places, counts, variances=None):
    """Return cells of a summary's form at these places."""
    cells, n = cells_from_release(summary.release()), len(places)
    return replace(
        cells,
        cells=places,
        counts=np.asarray(counts, float),
        variances=np.zeros(n) if variances is None else variances,
        column_shares=np.ones(places.shape[1]),
        groups=np.zeros(n, np.intp),
        group_variances=np.zeros(1),
    )


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_the_tree_is_scipys_if_all_cells_weigh_one(summary, columns):
    places = np.random.default_rng(columns).normal(size=(60, columns))
    linkage, within = link_cells(cells_at(summary, places, np.ones(60)), np.arange(60))
    np.testing.assert_allclose(linkage, hierarchy.ward(places), rtol=1e-9, atol=1e-9)
    assert not within.any()


def test_a_weight_is_as_good_as_repeated_rows(summary):
    rng = np.random.default_rng(0)
    places, counts = rng.normal(size=(25, 3)), rng.integers(1, 6, 25)
    linkage, _ = link_cells(cells_at(summary, places, counts), np.arange(25))
    repeated = hierarchy.ward(np.repeat(places, counts, axis=0))
    np.testing.assert_allclose(linkage[:, 2], repeated[-24:, 2], rtol=1e-7)


def test_noisy_copies_of_one_place_are_merged_within_noise_and_others_are_not(summary):
    rng, variance = np.random.default_rng(0), 0.01
    middles = np.repeat(np.array([[0.0, 0], [6, 0], [0, 6]]), 20, axis=0)
    places = middles + rng.normal(0, np.sqrt(variance), middles.shape)
    cells = cells_at(summary, places, np.full(60, 50.0), np.full(60, variance))
    _, within = link_cells(cells, np.arange(60))
    assert within[:-2].mean() > 0.85
    assert not within[-2:].any()


def test_cells_that_moved_together_are_not_within_the_noise_of_their_move(summary):
    places = np.array([[0.0, 0], [1, 0]])
    cells = cells_at(summary, places, [50, 50])
    together = replace(cells, group_variances=np.array([10.0, 10.0]))
    apart = replace(together, groups=np.array([0, 1]))
    assert not link_cells(together, np.arange(2))[1].any()
    assert link_cells(apart, np.arange(2))[1].all()


def test_a_cut_labels_new_rows_and_the_tree_is_nested(summary):
    tree = summary.dendrogram()
    four, three = tree.cut(4), tree.cut(3)
    assert adjusted_rand_score(GROUPS, four.predict(BLOBS)) > 0.95
    joined = pd.crosstab(four.predict(BLOBS), three.predict(BLOBS))
    assert ((joined > 0).sum(axis=1) == 1).all()
    assert four.parameters["clusterer"] == "Ward(n_clusters=4)"
    assert four.parameters["summary"] == summary.release().digest
    assert four.privacy == summary.privacy_
    assert tree.labels(1).max() == 0


def test_a_cut_below_the_noise_warns_and_an_impossible_one_is_refused(summary):
    tree = summary.dendrogram()
    assert tree.within_noise.any()
    assert 4 <= tree.most_clusters < len(tree.counts)
    with pytest.warns(LowSignalWarning, match="Noise explains the distance of"):
        tree.cut(len(tree.counts))
    with pytest.raises(ParameterError, match="n_clusters must be at most"):
        tree.cut(len(tree.counts) + 1)
    with pytest.raises(ParameterError, match="n_clusters"):
        tree.cut(0)


def test_the_tree_is_drawn_with_rows_of_branches(summary):
    mpl.use("Agg")
    ax = summary.dendrogram().plot(most_leaves=8)
    words = [text.get_text() for text in ax.get_xticklabels()]
    assert 2 <= len(words) <= 8
    total = sum(float(word.replace(",", "")) for word in words)
    np.testing.assert_allclose(total, summary.counts_.sum(), rtol=0.01)


def test_the_report_shows_the_tree_and_a_labelled_one_its_clusterer(summary):
    assert "Which clusters are parts of which" in summary.release().to_html()
    page = summary.cluster(KMeans(3, n_init=1, random_state=0)).to_html()
    assert "The cells are labelled by" in page
    assert "KMeans(n_clusters=3, n_init=1, random_state=0)" in page


def test_a_tree_says_in_a_line_how_much_of_it_is_noise(summary):
    tree = summary.dendrogram()
    assert repr(tree) == (
        f"<Dendrogram of {len(tree.counts)} cells: noise explains {tree.within_noise.sum()} of "
        f"{len(tree.counts) - 1} merges>"
    )
