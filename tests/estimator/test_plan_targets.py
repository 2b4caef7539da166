"""The smallest ε, or the fewest rows, for an error that is wanted."""

from __future__ import annotations

import pytest

from privclust import PrivateKMeans, PrivateSummary
from privclust.exceptions import ParameterError
from privclust.plan import Measure, Plan, Target, _search

MODEL = PrivateKMeans(3, bounds=(0, 1))


def test_the_smallest_epsilon_reaches_the_target_and_a_smaller_one_does_not():
    for target, error in (
        (1.1, "error_ratio"),
        ("inertia 1.02", "error_ratio"),
        ("size ±50", "size_error"),
    ):
        plan = MODEL.plan(5000, 2, target=target)
        most = float(str(target).replace("±", "").split()[-1])
        assert getattr(plan, error) <= most
        epsilon = float(plan.budget.epsilon)
        assert f"takes ε = {epsilon:g}." in plan.notes[0]
        less = PrivateKMeans(3, bounds=(0, 1), epsilon=epsilon / 1.3).plan(5000, 2)
        assert getattr(less, error) > most


def test_the_fewest_rows_for_a_given_epsilon():
    plan = MODEL.plan(None, 2, target="inertia 1.1")
    assert plan.error_ratio <= 1.1
    assert plan.budget.epsilon == 1
    assert f"takes about {plan.n_rows:,} rows." in plan.notes[0]
    assert MODEL.plan(round(plan.n_rows / 1.5), 2).error_ratio > 1.1


def test_a_summary_has_a_target_too():
    plan = PrivateSummary(bounds=(0, 1)).plan(3000, 2, n_clusters=3, target=1.5)
    assert plan.error_ratio <= 1.5


def test_what_cannot_be_reached_is_said():
    plan = MODEL.plan(100, 2, target="size 0.001")
    assert "takes more than ε = 128; ask for fewer clusters or columns." in plan.notes[0]
    by_rows = MODEL.plan(None, 2, target="size 0.001")
    assert "the noise of sizes is the same for any number, so raise epsilon." in by_rows.notes[0]


@pytest.mark.parametrize(
    "target", ["foo", "inertia", "distance 1", 0, -1, "size inf", "1 2 3", True]
)
def test_a_target_that_means_nothing_is_told_how_to_write_it(target):
    with pytest.raises(ParameterError, match=r'"inertia 1\.05" or "size 50"'):
        MODEL.plan(1000, 2, target=target)


def test_what_does_not_go_with_a_target():
    with pytest.raises(ParameterError, match="No sizes of clusters are released"):
        PrivateSummary(bounds=(0, 1)).plan(1000, 2, target="size 5")
    with pytest.raises(ParameterError, match="n_rows must be given unless there is a target"):
        MODEL.plan(None, 2)
    from privclust.budget import Budget

    with pytest.raises(ParameterError, match="epsilon and delta in place of budget"):
        PrivateKMeans(3, bounds=(0, 1), budget=Budget(1)).plan(1000, 2, target=2)


def test_the_search_finds_the_least_number_that_is_enough():
    def planned(number):
        return Plan(None, "", (), 0, 100 / number, Measure("inertia"))

    found = _search(planned, Target(of_sizes=False, most=10), (2**-10, 2**7))
    assert 100 / found.error_ratio == pytest.approx(10, rel=0.1)
    assert found.error_ratio <= 10
