"""A number of clusters that the rows choose, and a method that the number of rows chooses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privclust import Budget, PrivateKMeans
from privclust.clustering.auto import prefers_cautious
from privclust.data.points.door import PointRows
from privclust.exceptions import LowSignalWarning, ParameterError
from privclust.opening.rows import open_points
from privclust.privacy.meter import Meter

RNG = np.random.default_rng(3)
CORNERS = np.array([[2.0, 2.0], [8.0, 2.0], [2.0, 8.0], [8.0, 8.0]])
ROWS = CORNERS[RNG.integers(4, size=8000)] + RNG.normal(0, 0.4, (8000, 2))


def automatic(**changes):
    return PrivateKMeans("auto", **({"bounds": (0, 10), "random_state": 0} | changes))


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return automatic().fit(ROWS)


def test_a_clear_number_is_found_and_its_centres_are_those_of_the_clumps(model):
    assert model.n_clusters_ == 4
    assert model.method_ == "summary"
    gaps = np.linalg.norm(model.cluster_centers_[:, None] - CORNERS, axis=2)
    assert gaps.min(axis=0).max() < 0.3
    assert model.cluster_centers_error_.shape == (4, 2)
    assert len(set(model.predict(CORNERS))) == 4
    assert model.privacy_.spent.pure <= 1


@pytest.mark.usefixtures("blank_pictures")
def test_the_release_and_its_report_say_what_was_found(model):
    release = model.release()
    assert release.parameters["n_clusters"] == 4
    assert release.parameters["verdict"] == "The rows are in 4 clusters."
    assert release.facts().values["verdict"] == "The rows are in 4 clusters."
    assert "chosen from the rows, within the same budget: The rows are in 4" in release.to_html()


def test_no_clear_number_is_said_and_one_is_taken():
    # Fifty small clumps of all sizes: far more than any number that is tried.
    rng = np.random.default_rng(1)
    clumps, shares = rng.uniform(1, 9, (50, 2)), rng.dirichlet(np.ones(50))
    rows = clumps[rng.choice(50, 6000, p=shares)] + rng.normal(0, 0.3, (6000, 2))
    with pytest.warns(LowSignalWarning, match=r"no clear number of clusters; \d+ were taken"):
        model = automatic(epsilon=3, delta=1e-6).fit(rows)
    assert model.n_clusters_ == len(model.cluster_centers_) > 1
    assert "no clear number" in model.release().parameters["verdict"]


@pytest.mark.parametrize("n_rows", [1, 30])
def test_a_number_that_noise_hides_is_one_and_a_warning_says_so(n_rows):
    with pytest.warns(LowSignalWarning, match="cannot be seen at this budget; 1 was taken"):
        model = automatic(epsilon=0.1).fit(ROWS[:n_rows])
    assert model.n_clusters_ == 1


def test_a_plan_is_rehearsed_without_a_number():
    plan = PrivateKMeans("auto", bounds=(0, 10)).plan(n_rows=3000, n_features=2)
    assert any("spread within cells" in charge.query for charge in plan.queries)
    assert float(plan.spent.pure) <= 1
    assert plan.error_ratio > 0.9


@pytest.mark.parametrize("wrong", ["many", "8", "AUTO", 0])
def test_what_is_no_number_of_clusters_is_refused_in_one_sentence(wrong):
    with pytest.raises(
        ParameterError, match="n_clusters must be 'auto', None or a whole"
    ) as caught:
        PrivateKMeans(wrong, bounds=(0, 10)).fit(ROWS)
    assert ". " not in str(caught.value)


# The method


def preferred(n_rows, *, n_columns=4, n_clusters=3, epsilon=1.0, delta=0):
    budget = Budget(epsilon, delta)
    with open_points(np.zeros((1, n_columns)), bounds=(0, 1)) as opened:
        view = PointRows(opened).private(Meter(budget), np.random.SeedSequence(0))
        return prefers_cautious(view, budget.whole, n_rows, n_clusters)


def test_few_rows_prefer_caution_and_more_budget_or_rows_the_cells():
    assert preferred(150)
    assert preferred(150, n_columns=30)
    assert preferred(150, epsilon=0.1)
    assert not preferred(150, n_columns=41)
    assert not preferred(150, epsilon=5)
    assert not preferred(1000)
    assert not preferred(1, epsilon=0.1)  # the cells say that even the mean is noise


def test_with_delta_caution_is_for_fewer_rows():
    assert preferred(200, delta=1e-6)
    assert not preferred(300, delta=1e-6)
    assert preferred(300)


def test_the_preference_depends_on_rows_times_epsilon_over_the_root_of_clusters():
    for n_rows in (20, 100, 300, 400, 500, 1000):
        assert preferred(n_rows) == preferred(10 * n_rows, epsilon=0.1)
        assert preferred(n_rows) == preferred(2 * n_rows, n_clusters=12)


@pytest.mark.parametrize(
    ("n_rows", "copies", "method"), [(150, 1, "grid"), (150, 4, "cautious"), (8000, 1, "cells")]
)
def test_the_chosen_method_is_the_one_of_its_name_to_the_bit(n_rows, copies, method):
    given, rows = {"bounds": (0, 10), "random_state": 5}, np.tile(ROWS[:n_rows], copies)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen, named = (
            PrivateKMeans(3, method=way, **given).fit(rows) for way in ("auto", method)
        )
    assert chosen.method_ == method == chosen.release().parameters["method"]
    np.testing.assert_array_equal(chosen.cluster_centers_, named.cluster_centers_)
    np.testing.assert_array_equal(chosen.cluster_sizes_, named.cluster_sizes_)
