"""``PrivateZoneKMeans``: the budget, its questions, and what it finds."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from privclust.papers.zones.private import PrivateZoneKMeans

ROWS, GROUPS = make_blobs(2000, centers=3, cluster_std=0.5, center_box=(-8, 8), random_state=3)


def model(**changes):
    given = {"epsilon": 1e6, "bounds": (-10, 10), "random_state": 0, **changes}
    return PrivateZoneKMeans(3, **given)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_whole_budget_is_spent_and_no_more(delta):
    statement = model(epsilon=0.7, delta=delta).fit(ROWS).privacy_
    budget = model(epsilon=0.7, delta=delta)._budget()
    spent = statement.spent.rho if delta else statement.spent.pure
    # The choice in zCDP rounds its ε down to 64 binary places.
    assert budget.amount - Fraction(1, 2**60) < spent <= budget.amount


def test_every_step_asks_for_counts_offsets_and_a_candidate():
    names = [charge.query for charge in model(n_steps=2).fit(ROWS).privacy_.queries]
    expected = [f"step {i}: {part}" for i in (1, 2) for part in ("counts", "offsets", "candidate")]
    last = ["last step: counts", "last step: offsets", "cluster sizes: counts"]
    assert names == [*expected, *last]


def test_it_finds_clear_clusters_when_noise_is_small():
    scores = [
        adjusted_rand_score(GROUPS, model(epsilon=20, random_state=seed).fit_predict(ROWS))
        for seed in range(9)
    ]
    assert np.median(scores) > 0.9


def test_its_release_predicts_like_the_model():
    fitted = model(epsilon=5).fit(ROWS)
    release = fitted.release()
    assert release.parameters["method"] == "zones"
    np.testing.assert_array_equal(release.predict(ROWS), fitted.predict(ROWS))


@pytest.mark.parametrize("name", ["n_clusters", "n_candidates", "n_steps"])
@pytest.mark.parametrize("value", [0, 1.5, True, "2"])
def test_counts_that_are_no_whole_numbers_above_zero_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
        PrivateZoneKMeans(bounds=(0, 1)).set_params(**{name: value}).fit(ROWS)


def test_its_plan_names_every_question():
    plan = PrivateZoneKMeans(3, epsilon=0.5, bounds=(0, 1)).plan(150, n_features=4)
    assert "step 1: candidate" in str(plan)


# The shapes of iris, wine and breast cancer, on which nothing private works below ε = 2.
@pytest.mark.parametrize("epsilon", [0.5, 1, 1.9])
@pytest.mark.parametrize("shape", [(150, 4, 3), (178, 13, 3), (569, 30, 2)])
def test_its_plan_says_when_the_rows_are_too_few_for_the_budget(shape, epsilon):
    n_rows, n_features, n_clusters = shape
    plan = PrivateZoneKMeans(n_clusters, epsilon=epsilon, bounds=(0, 1)).plan(n_rows, n_features)
    assert "too small" in plan.advice


def test_its_plan_does_not_cry_wolf():
    plan = PrivateZoneKMeans(3, epsilon=5, bounds=(0, 1)).plan(20_000, n_features=2)
    assert "is enough" in plan.advice
