"""Clusters of any shape from noisy counts of a grid: what is found, what is not, what is said."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from privclust import (
    Ball,
    Box,
    Budget,
    Categories,
    Ledger,
    PrivateDensity,
    PrivateKMeans,
    Release,
    Schema,
)
from privclust.density import Density
from privclust.density.grid_counts import CountedGrid, Grid
from privclust.density.persistence import find_clusters
from privclust.density.smooth import _smooth_by, smooth
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError, SchemaError

MOONS, HALVES = make_moons(10_000, noise=0.05, random_state=0)
BOUNDS = ([-1.5, -1.0], [2.5, 1.5])


@pytest.fixture(scope="module")
def moons():
    return PrivateDensity(epsilon=1.0, bounds=BOUNDS, random_state=0).fit(MOONS)


def test_moons_are_found_at_a_small_budget():
    model = PrivateDensity(epsilon=0.2, bounds=BOUNDS, random_state=1).fit(MOONS)
    found = model.clusters()
    assert found.n_clusters == 2
    assert adjusted_rand_score(HALVES, found.predict(MOONS, noise=False)) > 0.95
    np.testing.assert_allclose(found.sizes, 5000, atol=400)
    assert (np.abs(found.sizes - 5000) < 4 * found.sizes_error + 150).all()


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_one_bell_is_one_cluster(columns, seed):
    rows = np.random.default_rng(seed).normal(size=(5000, columns))
    found = PrivateDensity(bounds=(-5, 5), random_state=seed).fit(rows).clusters()
    assert found.n_clusters == 1
    assert found.verdict == "One cluster: there is no structure beyond the noise."


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_three_blobs_are_found_in_one_to_three_columns(columns):
    centres = np.array([[-3.0, 0, 0], [0, 3, 3], [3, -3, 0]])[:, :columns]
    rows, labels = make_blobs(6000, centers=centres, cluster_std=0.6, random_state=0)
    found = PrivateDensity(bounds=(-6, 6), random_state=0).fit(rows).clusters()
    assert found.n_clusters == 3
    assert adjusted_rand_score(labels, found.predict(rows, noise=False)) > 0.95
    assert [merge.apart for merge in found.persistence[:2]].count(True) <= 2


def test_as_many_clusters_are_made_as_are_asked_for(moons):
    for number in (1, 2, 3, 5):
        found = moons.clusters(number)
        # Two pieces lie apart; one cluster is the larger of them, and the rest is noise.
        assert found.n_clusters == number
        assert found.cell_labels.max() == number - 1
    assert "might be noise" in moons.clusters(5).verdict
    assert moons.clusters(2).verdict == "2 clusters, as asked."


def test_rows_away_from_all_clusters_are_noise(moons):
    far, found = np.array([[-1.4, -0.9], [0.0, 1.0]]), moons.clusters()
    assert found.predict(far)[0] == -1
    assert (found.predict(far, noise=False) >= 0).all()
    assert found.predict(far)[1] == found.predict(far, noise=False)[1]


def test_merges_are_listed_with_what_they_rest_on():
    rows, _ = make_blobs(8000, centers=[[-1.5, 0], [1.5, 0]], cluster_std=0.7, random_state=0)
    found = PrivateDensity(bounds=(-5, 5), random_state=0).fit(rows).clusters()
    strongest = found.persistence[0]
    assert strongest.apart
    assert strongest.strength >= 1
    assert strongest.peak > strongest.saddle > 0
    assert abs(strongest.saddle_place[0]) < 0.6
    assert abs(abs(strongest.place[0]) - 1.5) < 0.7
    strengths = [merge.strength for merge in found.persistence]
    assert strengths == sorted(strengths, reverse=True)
    assert not any(merge.apart for merge in found.persistence if merge.strength < 1)


def test_a_small_group_is_a_cluster_only_if_small_ones_are_asked_for():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 0.5, (9950, 2)), rng.normal(3, 0.1, (50, 2))])
    model = PrivateDensity(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(rows)
    assert model.clusters().n_clusters == 1
    assert model.clusters(least=0.002).n_clusters == 2


def test_a_map_of_small_towns_needs_finer_cells_and_gets_them():
    rng = np.random.default_rng(0)
    town = rng.integers(100, size=10_000)
    places = 10 * np.stack(np.unravel_index(np.arange(100), (10, 10)), axis=1) + 5
    rows = places[town] + rng.normal(0, 0.7, (10_000, 2))
    coarse, fine, looked = (
        PrivateDensity(least=least, bounds=(0, 200), random_state=0).fit(rows)
        for least in (0.01, 0.001, None)
    )
    assert looked.release().parameters["least"] == 0.001
    assert 95 <= looked.clusters().n_clusters <= 105
    assert fine.counts_.shape[0] > 2 * coarse.counts_.shape[0]
    scores = [
        adjusted_rand_score(town, model.clusters(least=0.001).predict(rows, noise=False))
        for model in (coarse, fine)
    ]
    assert scores[1] > 0.95 > 0.6 > scores[0]
    few = [PrivateDensity(least=one, bounds=(0, 200)).fit(rows[:300]) for one in (0.01, 1e-6)]
    assert few[0].counts_.shape[0] > 0.8 * few[1].counts_.shape[0]  # nothing so small stands out
    assert Density(fine.release()).clusters().n_clusters == fine.clusters(least=0.001).n_clusters


def test_sparse_rows_are_smoothed_more_than_dense_ones():
    """Wide means, which a sparse ring needs to be seen, would join two dense clusters."""
    rng, cells = np.random.default_rng(0), np.indices((60, 60))
    turn = 2 * np.pi * np.arange(400) / 400
    counts = rng.normal(0, 1.4, (60, 60))
    ring = np.unique(np.round(30 + 24 * np.stack([np.cos(turn), np.sin(turn)])).astype(int), axis=1)
    counts[tuple(ring)] += 3
    for place in (27, 33):
        counts += 40 * np.exp(-((cells[0] - place) ** 2 + (cells[1] - 30) ** 2) / 2)
    grid = Grid(np.zeros(2), np.ones(2), (60, 60))
    counted = CountedGrid(grid, counts, 1.4, 500.0 + 3 * ring.shape[1], 1.0)
    labels = find_clusters(counted, None, 0.01).labels
    assert -1 not in (labels[27, 30], labels[33, 30])
    assert labels[27, 30] != labels[33, 30]
    narrow, wide = (_smooth_by(counted, width) for width in (1.0, 2.8))
    parts = [one.stands_out[tuple(ring)].mean() for one in (narrow, smooth(counted))]
    assert parts[1] > parts[0] + 0.1
    assert wide.density[30, 30] > 0.99 * wide.density[27, 30]


def test_whole_numbers_are_never_cut_apart():
    """Else some cells would have two of them and some one, and even rows would look like waves."""
    schema = Schema({"age": Box(0, 100, form="integer"), "visits": Box(0, 6, form="integer")})
    grid = Grid.over(schema, 70)
    assert grid.sides == (51, 7)
    np.testing.assert_array_equal(grid.cuts[0][:3], [1.5, 3.5, 5.5])
    np.testing.assert_array_equal(grid.cuts[1], np.arange(0.5, 6))
    rows = np.random.default_rng(0).integers(0, [101, 7], (20_000, 2))
    frame = pd.DataFrame(rows, columns=["age", "visits"])
    found = PrivateDensity(schema=schema, random_state=0).fit(frame).clusters()
    assert found.n_clusters == 1


def test_without_noise_the_tree_is_that_of_the_counts():
    counts = np.array([[0, 50, 80, 50, 5, 40, 70, 40, 0]], float).T
    line = np.repeat(np.repeat(counts, 3, 0), 6, 1)
    grid = Grid(np.zeros(2), np.ones(2), line.shape)
    found = find_clusters(CountedGrid(grid, line, 1.0, line.sum(), 1.0), None, 0.01)
    assert found.n_clusters == 2
    assert (found.labels[3:12] == 0).all()
    assert (found.labels[15:24] == 1).all()


def test_a_delta_is_not_spent_without_a_ledger(tmp_path):
    model = PrivateDensity(epsilon=1, delta=1e-6, bounds=BOUNDS, least=0.01).fit(MOONS)
    assert model.privacy_.paid_from == Budget(1)
    assert model.counts_error_ < 1.5  # no part of the budget goes to a first look
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("rows")
    ledger.grant("rows", 1, 1e-6)
    charged = PrivateDensity(
        epsilon=1, delta=1e-6, bounds=BOUNDS, ledger=ledger, dataset="rows"
    ).fit(MOONS)
    assert charged.privacy_.paid_from == Budget(1, 1e-6)
    assert charged.counts_error_ > 3


def test_too_few_rows_are_said_to_be_too_few():
    rows = np.random.default_rng(0).normal([[0, 0], [4, 4]] * 5, 0.1)
    with pytest.warns(LowSignalWarning, match="too few rows for a grid"):
        model = PrivateDensity(epsilon=1, bounds=(-5, 5)).fit(rows)
    assert model.clusters().n_clusters == 1
    assert model.release().signal == "hidden"
    with pytest.raises(ParameterError, match="n_clusters must be at most 1"):
        model.clusters(2)


def test_many_rows_on_one_value_are_one_peak():
    rng = np.random.default_rng(0)
    rows = np.vstack([np.zeros((5000, 2)), rng.uniform(-4, 4, (5000, 2))])
    found = PrivateDensity(bounds=(-5, 5), random_state=0).fit(rows).clusters()
    assert found.n_clusters <= 2


# Refusals: one sentence each, and nothing is charged.


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (
            {"a": Box(0, 1), "b": Categories(["x"])},
            "'b' is declared as categorical.*PrivateSummary",
        ),
        ({name: Box(0, 1) for name in "abcd"}, "one to three columns of numbers, got 4.*PrivateS"),
        ({"a": Box(0, 1, weight=2.0)}, "'a' has a weight, which a density has no use for; drop it"),
    ],
)
def test_a_schema_that_has_no_grid_is_refused_before_anything_is_charged(schema, told, tmp_path):
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("rows")
    ledger.grant("rows", 1)
    model = PrivateDensity(schema=Schema(schema), ledger=ledger, dataset="rows")
    with pytest.raises(SchemaError, match=told):
        model.fit(pd.DataFrame({name: [0.5] for name in schema}))
    with pytest.raises(SchemaError, match=told):
        model.plan()
    assert not [entry for entry in ledger.history("rows") if entry.kind == "charge"]


def test_four_columns_without_a_schema_and_a_ball_are_refused():
    with pytest.raises(SchemaError, match="one to three columns of numbers, got 4"):
        PrivateDensity(bounds=(0, 1)).fit(np.zeros((5, 4)))
    ball = Schema({"x": Box(0, 1), "y": Box(0, 1)}, ball=Ball(center=[0.5, 0.5], radius=0.5))
    with pytest.raises(SchemaError, match="counts cells of a box; drop the Ball"):
        PrivateDensity(schema=ball).fit(pd.DataFrame({"x": [0.5], "y": [0.5]}))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"n_clusters": 10_000}, "n_clusters must be at most"),
        ({"least": 0}, "least"),
        ({"least": 1.5}, "least"),
    ],
)
def test_clusters_that_cannot_be_made_are_refused(moons, asked, told):
    with pytest.raises(ParameterError, match=told):
        moons.clusters(**asked)


# The release.


def test_a_saved_density_answers_like_the_model(moons, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moons.release().save(tmp_path / "density")
    loaded = Density(Release.load(tmp_path / "density"))
    np.testing.assert_array_equal(loaded.clusters().cell_labels, moons.clusters().cell_labels)
    np.testing.assert_array_equal(loaded.release().predict(MOONS), moons.clusters().predict(MOONS))
    np.testing.assert_array_equal(loaded.sample(50, 3), moons.sample(50, 3))


def test_the_report_shows_the_map_the_clusters_and_the_merges(moons):
    page = moons.release().to_html()
    assert "2 clusters stand out from the noise." in page
    assert "Where peaks meet" in page
    assert "No single row is drawn" in page
    assert "<image" not in page  # which the page would not load
    assert len(page) < 500_000


@pytest.mark.parametrize("columns", [1, 3])
def test_the_report_draws_one_and_three_columns(columns):
    rows = np.random.default_rng(0).normal(size=(2000, columns))
    page = PrivateDensity(bounds=(-5, 5), random_state=0).fit(rows).release().to_html()
    assert "One cluster: there is no structure beyond the noise." in page
    assert "<image" not in page


def test_a_release_of_another_kind_is_no_density(moons):
    release = PrivateKMeans(2, bounds=(0, 1), random_state=0).fit(np.zeros((5, 2))).release()
    with pytest.raises(ReleaseError, match="'kmeans' is not a density"):
        Density(release)
    with pytest.raises(ParameterError, match="read from a Release, got str"):
        Density("density/")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sides": np.array([9, 9])}, "do not fit its 'sides'"),
        ({"sides": np.array([9.0, 9.0])}, "correct 'sides'"),
        ({"widths": np.array([0.1, 0.0])}, "wider than 0"),
        ({"counts_error": np.array([-1.0])}, "negative"),
        ({"n_rows": np.array([1.0, 2.0])}, "does not fit|one number of rows"),
        ({"cell_labels": np.zeros(3, int)}, "for each cell"),
        ({"least": 0.0}, "above 0"),
    ],
)
def test_a_damaged_density_is_refused(moons, changes, told):
    release = moons.release()
    parameters = {**release.parameters, "least": changes.pop("least", 0.01)}
    with pytest.raises(ReleaseError, match=told):
        Release(
            kind="density",
            arrays={**release.arrays, **changes},
            schema=release.schema,
            parameters=parameters,
            privacy=release.privacy,
        )


# Any clusterer.


@pytest.mark.parametrize(
    "clusterer",
    [
        HDBSCAN(min_cluster_size=100, copy=True),
        DBSCAN(eps=0.04, min_samples=10),
        KMeans(2, n_init=1, random_state=0),
        GaussianMixture(2, random_state=0),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_any_clusterer_labels_new_rows_and_says_where_it_came_from(moons, clusterer):
    labelled = moons.cluster(clusterer)
    assert labelled.kind == "density"
    assert labelled.parameters["density"] == moons.release().digest
    assert labelled.parameters["clusterer"] == repr(clusterer)
    assert labelled.privacy == moons.privacy_
    agreement = adjusted_rand_score(HALVES, labelled.predict(MOONS))
    assert agreement > (0.9 if isinstance(clusterer, HDBSCAN | DBSCAN) else 0.15)
    assert type(clusterer).__name__ in labelled.to_html()
    assert moons.cluster(clusterer) == labelled


@pytest.mark.parametrize(
    ("clusterer", "told"),
    [
        (HDBSCAN, "must be an instance, got the class itself"),
        (PrivateKMeans(2, bounds=(0, 1)), "PrivateKMeans is private itself"),
        (LinearRegression(), "type LinearRegression labels nothing"),
        ("HDBSCAN", "type str labels nothing"),
    ],
)
def test_what_is_no_clusterer_is_refused(moons, clusterer, told):
    with pytest.raises(ParameterError, match=told):
        moons.cluster(clusterer)


def test_a_labelled_density_tells_of_its_own_clusters_and_not_of_peaks(moons):
    found = moons.cluster(KMeans(5, n_init=1, random_state=0))
    facts = found.facts()
    assert facts.values["n_clusters"] == len(facts.values["sizes"]) == 5
    page = found.to_html()
    assert "The clusterer found 5 clusters." in page
    assert "stand out" not in page.split("How sure this is")[0]
    assert "Where peaks meet" not in page
    none = moons.cluster(DBSCAN(eps=1e-9, min_samples=100), n_rows=200)
    assert "The clusterer found 0 clusters." in none.to_html()


def test_clusters_say_in_a_line_what_was_found(moons):
    assert repr(moons.clusters(1)).endswith("cells: 1 cluster, as asked.>")
    assert "2 clusters stand out" in repr(moons.clusters())
