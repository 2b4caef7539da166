"""A plan as it is read: the budget that was given, and what every question asks."""

from __future__ import annotations

import pytest

from privclust import Budget, PrivateKMeans
from privclust.plan import Measure, Rehearsal, rehearse
from privclust.schema.schema import Schema
from support.releases import statement

SCHEMA = Schema.from_bounds(0, 1, n_columns=2)


@pytest.fixture(scope="module")
def plan():
    return PrivateKMeans(2, epsilon=2, delta=1e-6, schema=SCHEMA, method="lloyd").plan(500)


def test_the_heading_shows_the_epsilon_and_delta_that_were_given_and_rho_behind_them(plan):
    rho = float(Budget(2, 1e-6).amount)
    assert str(plan).startswith(f"Plan: ε = 2, δ = 1e-06 (ρ = {rho:.4g}) in all, rehearsed for 500")
    assert "cost in ρ" in str(plan)


def test_the_heading_without_delta_shows_epsilon_alone():
    assert Budget("0.5").words == "ε = 0.5"


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_costs_of_the_questions_add_up_to_the_budget_of_the_heading(delta):
    model = PrivateKMeans(2, epsilon=2, delta=delta, schema=SCHEMA, method="lloyd")
    plan = model.plan(500)
    words = str(plan).splitlines()
    costs = [float(line.split()[0]) for line in words[3 : 3 + len(plan.queries)]]
    assert min(costs) > 0
    assert sum(costs) == pytest.approx(float(Budget(2, delta).amount), rel=1e-2)


class Rehearsed:
    """Stands in for a model: it asks nothing and cannot err."""

    ledger = None
    unit = "add-remove-row"
    privacy_ = statement(2)

    def __init__(self, ledger=None, random_state=None):
        pass

    def get_params(self, deep=True):
        return {}

    def _run(self, charged):
        return None

    def _rehearse(self, run, *data):
        pass


def test_the_expected_error_is_the_mean_of_the_rehearsals():
    errors = [1.0, 2.0, 6.0]
    made = rehearse(
        Rehearsed(),
        lambda number: Rehearsal((), lambda model: errors[number]),
        n_rows=10,
        measure=Measure("inertia"),
    )
    assert made.error_ratio == 3


def test_every_question_of_a_plan_says_what_it_asks(plan):
    assert all(charge.asks for charge in plan.queries)
    assert str(plan).count("how many rows are nearest to each centre") == 1
    assert all(query["asks"] for query in plan.to_dict()["queries"])
