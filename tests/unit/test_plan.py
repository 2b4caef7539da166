"""A plan as it is read: the budget that was given, and what every question asks."""

from __future__ import annotations

import pytest

from privclust import Budget, PrivateKMeans
from privclust.schema import Schema

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


def test_every_question_of_a_plan_says_what_it_asks(plan):
    assert all(charge.asks for charge in plan.queries)
    assert str(plan).count("how many rows are nearest to each centre") == 1
    assert all(query["asks"] for query in plan.to_dict()["queries"])
