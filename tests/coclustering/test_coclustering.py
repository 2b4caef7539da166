"""The co-clustering estimators: what they find, spend, keep and refuse."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from privclust.coclustering.association import noisy_tau, normalised_tau, tau, tau_weights
from privclust.coclustering.estimator import PrivateCoclustering
from privclust.coclustering.plan import synthetic_counts
from privclust.coclustering.report import block_plot
from privclust.exceptions import LowSignalWarning, ReleaseError
from privclust.papers.tau.private import PrivateTauCoclustering, random_start
from privclust.papers.tau.published import TauCoclustering
from privclust.release.document import About
from privclust.release.release import Release
from privclust.unit.matrix import MatrixEntry
from privclust.unit.rows import Person

MADE = synthetic_counts((400, 200), 3, 3, 150, seed=0)
MODELS = {
    "tables, count": PrivateCoclustering(3, 3, epsilon=2),
    "tables, entry": PrivateCoclustering(3, 3, epsilon=4, unit="entry"),
    "tables, cap": PrivateCoclustering(3, 3, epsilon=4, unit=MatrixEntry(3)),
    "tables, Gaussian": PrivateCoclustering(3, 3, epsilon=2, delta=1e-6),
    "tables, tau rule": PrivateCoclustering(3, 3, epsilon=2, rule="tau"),
    "tau": PrivateTauCoclustering(3, 3, epsilon=4),
    "tau, Gaussian": PrivateTauCoclustering(3, 3, epsilon=4, delta=1e-6),
    "row": PrivateCoclustering(3, 3, epsilon=8, delta=1e-6, unit="row"),
}


def fitted(name, matrix=MADE.counts, **changes):
    model = clone(MODELS[name]).set_params(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowSignalWarning)
        return model.fit(matrix)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("tables")])
def test_planted_blocks_are_found(name):
    model = fitted(name, random_state=1)
    assert adjusted_rand_score(MADE.rows, model.predict(MADE.counts)) > 0.9
    assert model.n_directions_ > 0


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_found_also_if_there_are_not_as_many_clusters_as_of_rows(seed):
    made = synthetic_counts((1000, 200), 5, 4, 120, seed=seed)
    model = PrivateCoclustering(5, 4, epsilon=2, random_state=seed).fit(made.counts)
    assert adjusted_rand_score(made.columns, model.column_labels_) > 0.9
    assert model.tau_ > 0.2


@pytest.mark.parametrize("name", ["tau", "tau, Gaussian", "row"])
def test_weaker_methods_find_more_than_chance(name):
    found = [
        adjusted_rand_score(MADE.rows, fitted(name, random_state=seed).predict(MADE.counts))
        for seed in range(4)
    ]
    assert np.mean(found) > 0.3


@pytest.mark.parametrize("name", MODELS)
def test_all_of_the_budget_is_spent_and_no_more(name):
    model = fitted(name)
    spent, budget = model.privacy_.spent, model._budget()
    amount = spent.rho if budget.delta else spent.pure
    # Selections round their ε down to 64 binary places in the currency of zCDP.
    assert budget.amount * (1 - Fraction(1, 10**12)) <= amount <= budget.amount
    assert model.privacy_.private


@pytest.mark.parametrize("name", MODELS)
def test_what_is_kept_has_the_promised_shapes_and_no_exact_label(name):
    model = fitted(name)
    k, n_clusters = model.block_totals_.shape
    assert k <= 3
    assert n_clusters <= 3
    assert model.column_labels_.shape == (200,)
    assert model.column_weights_.shape == (200, k)
    assert model.tau_ == noisy_tau(model.block_totals_, model.block_totals_error_.max())
    assert not hasattr(model, "labels_")
    assert hasattr(model, "row_labels_") == (name != "row")


@pytest.mark.parametrize("name", MODELS)
def test_fit_predict_labels_like_predict(name):
    model = clone(MODELS[name]).set_params(random_state=3)
    assert (model.fit_predict(MADE.counts) == model.predict(MADE.counts)).all()


def test_a_seeded_fit_is_reproducible_and_says_that_it_is_not_private():
    first, second = (fitted("tables, count", random_state=5) for _ in range(2))
    assert (first.block_totals_ == second.block_totals_).all()
    assert "NOT PRIVATE" in first.privacy_.promise
    assert (fitted("tables, count").block_totals_ != first.block_totals_).any()


def test_the_statement_warns_how_weakly_a_whole_row_is_protected():
    assert "a row of 10 counts at ε = " in fitted("tables, count").privacy_.protects
    assert "whole row" in fitted("row").privacy_.protects


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "matrix",
    [np.zeros((5, 4), int), np.ones((1, 1), int), np.eye(7, dtype=int), np.full((6, 2), 1000)],
    ids=["zeros", "one entry", "identity", "two columns"],
)
def test_degenerate_matrices_get_an_answer(name, matrix):
    model = fitted(name, matrix)
    assert model.predict(matrix).shape == (len(matrix),)
    assert np.isfinite(model.block_totals_).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (4, 1), (2, 4), (50, 3)])
def test_any_number_of_clusters_gets_an_answer(name, sizes):
    matrix = MADE.counts[:30]
    model = fitted(name, matrix, n_row_clusters=sizes[0], n_column_clusters=sizes[1])
    assert model.column_labels_.max() < sizes[1]
    assert model.predict(matrix).max() < sizes[0]


def test_structureless_data_are_told():
    rng = np.random.default_rng(0)
    matrix = rng.poisson(rng.uniform(0.1, 2, 200), (400, 200))
    warned = 0
    for seed in range(6):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            PrivateCoclustering(3, 3, random_state=seed).fit(matrix)
        warned += any(entry.category is LowSignalWarning for entry in caught)
    assert warned >= 5


def test_noise_does_not_pass_for_association():
    # Column clusters are picked by noise here; totals summed from the same noise show τ > 0.1.
    matrix = np.random.default_rng(0).poisson(1, (400, 200))
    assert fitted("tables, count", matrix, epsilon=0.2).tau_ < 0.02


def test_noise_does_not_pass_for_association_under_whole_rows():
    # Totals added up from the noisy profiles show τ of 0.3 and more here, where the truth is 0.
    matrix = np.random.default_rng(0).poisson(1, (300, 400))
    found = [fitted("row", matrix, epsilon=3, random_state=seed).tau_ for seed in range(5)]
    assert np.mean(found) < 0.03


def test_tau_of_whole_rows_is_that_of_the_clusters_their_holder_sees():
    model = fitted("row", epsilon=50, random_state=0)
    rows = np.eye(model.block_totals_.shape[0])[model.predict(MADE.counts)]
    columns = np.eye(model.block_totals_.shape[1])[model.column_labels_]
    dense = MADE.counts.toarray()
    exact = rows.T @ (dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)) @ columns
    np.testing.assert_allclose(model.block_totals_, exact, atol=5)
    assert model.tau_ == pytest.approx(tau(exact), abs=0.02)


@pytest.mark.system
def test_a_matrix_that_no_memory_holds_densely_is_fitted():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 200_000, (2, 50_000))
    matrix = sparse.coo_array((np.ones(50_000, int), places), shape=(200_000, 200_000))
    model = PrivateCoclustering(2, 2, epsilon=0.01)
    with pytest.warns(LowSignalWarning):
        model.fit(matrix)  # 320 GB as a dense matrix
    assert model.column_labels_.shape == (200_000,)


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (PrivateCoclustering(0), "n_row_clusters"),
        (PrivateCoclustering(2, 1.5), "n_column_clusters"),
        (PrivateCoclustering(2, epsilon=0), "epsilon"),
        (PrivateCoclustering(2, rule="best"), "rule"),
        (PrivateCoclustering(2, unit="row"), "delta"),
        (PrivateCoclustering(2, unit="cell"), "Unknown privacy unit"),
        (PrivateCoclustering(2, unit=Person("id", 3)), "does not apply to a matrix"),
        (PrivateCoclustering(2, unit="row", delta=1e-6, rule="tau"), "prototypes"),
        (PrivateTauCoclustering(2, unit="row"), "whole rows"),
        (PrivateTauCoclustering(2, n_rounds=0), "n_rounds"),
        (PrivateTauCoclustering(2, choice_share=1), "choice_share"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(model, part):
    with pytest.raises(ValueError, match=part):
        model.fit(MADE.counts)


def test_other_columns_than_fitted_are_refused():
    with pytest.raises(ValueError, match="200"):
        fitted("tables, count").predict(np.ones((3, 5), int))


def test_the_plan_costs_the_budget_and_tells_small_data_from_large():
    model = PrivateCoclustering(3, 3, epsilon=1)
    assert model.plan(1000, 300, row_total=200).spent.pure == 1
    good, poor = (
        model.plan(rows, 300, row_total=total).error_ratio for rows, total in ((1000, 200), (20, 5))
    )
    assert good < 1.2 < poor


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("name", ["tables, count", "tau", "row"])
def test_a_release_is_saved_read_back_applied_and_reported(name, tmp_path):
    model = fitted(name, random_state=1)
    release = model.release().with_about(About(names=[f"word {j}" for j in range(200)]))
    release.save(tmp_path / "release", report=True)
    again = Release.load(tmp_path / "release")
    assert again == release
    assert (again.predict(MADE.counts) == model.predict(MADE.counts)).all()
    page = again.to_html()
    assert "Totals of all blocks" in page
    assert ("word " in page) == (name != "tau")
    assert ("not counts" in page) == (name == "row")


def test_the_picture_puts_blocks_that_go_together_on_the_diagonal():
    totals = np.array([[1.0, 1.0, 50.0], [50.0, 1.0, 1.0], [1.0, 50.0, 1.0]])
    picture = block_plot(totals, np.ones(3), np.ones(3, int))
    assert picture.index(">C2<") < picture.index(">C0<") < picture.index(">C1<")
    assert picture.count("×2.9") == 6  # for a page and for a phone


def test_a_release_refuses_names_for_other_columns():
    with pytest.raises(ReleaseError, match="one name per column"):
        fitted("tables, count").release().with_about(About(names=["a", "b"]))


NAMED = About(row_groups=["fans", "cooks", "pilots"], column_groups=["balls", "pans", "wings"])


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("name", ["tables, count", "row"])
def test_clusters_of_rows_and_columns_have_the_names_of_the_publisher(name, tmp_path):
    release = fitted(name).release().with_about(NAMED)
    release.save(tmp_path / "release", report=True)
    again = Release.load(tmp_path / "release")
    assert again.about == NAMED
    page = again.to_html()
    for text in ("R1 cooks", "C2 wings", "<strong>Fans</strong>"):
        assert text in page
    listing, values = again.facts().listings[0], again.facts().values
    assert [line[0] for line in listing.lines] == [*NAMED.row_groups]
    assert [*listing.headings[1:]] == [*NAMED.column_groups] == values["column_groups"]
    lines = (tmp_path / "release" / "clusters.csv").read_text("utf-8-sig").splitlines()
    assert lines[0].replace('"', "").startswith("row cluster,column cluster,row name,column name")
    assert "fans" in lines[1]
    assert {text.get_text() for text in again.plot().get_xticklabels()} == {*NAMED.column_groups}


@pytest.mark.parametrize("wrong", [{"row_groups": ["a"]}, {"column_groups": ["a"] * 4}])
def test_a_release_refuses_names_for_other_clusters(wrong):
    with pytest.raises(ReleaseError, match=r"one name per (row|column) cluster"):
        fitted("tables, count").release().with_about(About(**wrong))


# The measure, and the algorithm without privacy.


def test_tau_of_independent_and_of_diagonal_tables():
    assert tau(np.outer([1, 2, 3], [4, 5])) == pytest.approx(0)
    assert normalised_tau(np.diag([3.0, 4.0])) == pytest.approx(1)
    assert tau(np.zeros((2, 2))) == 0


@pytest.mark.parametrize("error", [0.0, 10.0, 30.0])
@pytest.mark.parametrize("table", [np.full((3, 3), 100.0), 50 + np.eye(3) * 150])
def test_tau_of_a_noisy_table_is_estimated_without_the_noise(table, error):
    noisy = table + np.random.default_rng(0).normal(0, error, (400, 3, 3))
    found, plain = (
        np.mean([measure(cells) for cells in noisy]) - tau(table)
        for measure in (lambda cells: noisy_tau(cells, error), tau)
    )
    # What is left comes from the limit at zero and from noisy denominators.
    assert abs(found) <= max(0.5 * plain, 1e-9)


def test_tau_is_the_sum_of_the_weights_of_all_counts():
    table = np.random.default_rng(0).integers(0, 9, (3, 4)).astype(float)
    assert tau(table) == pytest.approx((tau_weights(table) * table).sum() / table.sum())


def test_a_column_cluster_without_counts_says_nothing():
    assert not tau_weights(np.array([[1.0, 0.0], [2.0, 0.0]]))[:, 1].any()


@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (3, 3), (1, 5)])
def test_the_blind_start_works_for_any_numbers_of_clusters(shape):
    rows, weights = random_start((40, 30), *shape, np.random.default_rng(0))
    assert rows.count == shape[0]
    assert weights.shape == (40, shape[1])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("inner", [1, 100])
def test_no_step_of_fast_tau_lowers_tau(seed, inner):
    model = TauCoclustering(6, 6, inner_iter=inner, random_state=seed).fit(MADE.counts)
    assert len(model.tau_history_) > 2
    for _, before, after in model.tau_history_:
        assert after >= before - 1e-12


def test_fast_tau_finds_planted_blocks_and_drops_empty_clusters():
    found = [
        adjusted_rand_score(
            MADE.rows, TauCoclustering(6, 6, random_state=seed).fit(MADE.counts).row_labels_
        )
        for seed in range(5)
    ]
    assert max(found) > 0.9
    model = TauCoclustering(400, 5, random_state=0).fit(MADE.counts)
    assert (model.block_totals_.sum(axis=1) > 0).all()


def test_fast_tau_refuses_what_is_no_count():
    with pytest.raises(ValueError, match="Negative values"):
        TauCoclustering(2, 2).fit([[1, -1]])


def test_the_blocks_of_fast_tau_are_biclusters_in_scikit_learns_sense():
    model = TauCoclustering(3, 3, random_state=0).fit(MADE.counts)
    blocks = [
        MADE.counts[model.get_indices(number)[0]][:, model.get_indices(number)[1]].sum()
        for number in range(model.block_totals_.size)
    ]
    assert blocks == model.block_totals_.ravel().tolist()


def test_a_budget_without_bounds_is_no_error():
    counts = np.kron(np.array([[9, 0], [0, 9]]), np.ones((10, 10), int))
    model = PrivateCoclustering(2, 2, epsilon=1e6, random_state=0).fit(counts)
    assert len(set(model.predict(counts)[:10])) == len(set(model.predict(counts)[10:])) == 1


def test_blocks_are_the_biclusters_of_scikit_learn():
    counts = np.kron(np.eye(2, dtype=int) * 9, np.ones((30, 20), dtype=int))
    model = PrivateCoclustering(2, 3, epsilon=1.0, random_state=0).fit(counts)
    rows, columns = model.biclusters_
    assert rows.shape == (6, 60)
    assert columns.shape == (6, 40)
    for block in range(6):
        own_rows, own_columns = model.get_indices(block)
        assert (model.row_labels_[own_rows] == block // 3).all()
        assert (model.column_labels_[own_columns] == block % 3).all()
    assert sum(model.get_submatrix(block, counts).sum() for block in range(6)) == counts.sum()


def test_where_rows_are_protected_no_block_lists_them():
    model = PrivateCoclustering(2, 2, delta=1e-6, unit="row", random_state=0).fit(np.eye(9))
    assert not hasattr(model, "rows_")
    with pytest.raises(AttributeError, match="whole rows are protected"):
        model.biclusters_  # noqa: B018
