"""A fit with a δ may spend its ε without it: what the meter allows, and what is said."""

import warnings
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privclust import Box, Budget, PrivateKMeans, Release, Schema
from privclust.budget import Loss
from privclust.exceptions import BudgetExceededError
from privclust.privacy.meter import Meter

BUDGET = Budget("0.2", 1e-6)
RNG = np.random.default_rng(3)
PLACES = RNG.uniform(-0.8, 0.8, (15, 2))
ROWS = np.clip(PLACES[np.arange(3000) % 15] + RNG.normal(0, 0.05, (3000, 2)), -1, 1)
CORNER = ROWS[np.arange(12_000) % 3000] / 8 - 0.5


def fitted(rows=ROWS, n_clusters=15, **changes):
    options = {"epsilon": 0.2, "delta": 1e-6, "bounds": (-1, 1), "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateKMeans(n_clusters, **{**options, **changes}).fit(rows)


def spends_pure(model):
    return model.privacy_.paid_from == Budget("0.2")


# The meter


def test_the_whole_epsilon_can_be_spent_without_delta_and_no_more():
    meter = Meter(BUDGET, or_pure=True)
    meter.charge("first", Loss.of_pure(Fraction(1, 10)))
    meter.charge("second", Loss.of_pure(Fraction(1, 10)))
    assert meter.spent.rho > BUDGET.amount
    for more in (Loss.of_pure(Fraction(1, 10**30)), Loss(None, Fraction(1, 10**30))):
        with pytest.raises(BudgetExceededError):
            meter.charge("third", more)


def test_answers_in_pure_epsilon_count_by_their_rho_once_others_follow():
    meter, first = Meter(BUDGET, or_pure=True), Loss.of_pure(Fraction(1, 100))
    meter.charge("first", first)
    meter.charge("rest", Loss(None, BUDGET.amount - first.rho))
    with pytest.raises(BudgetExceededError):
        meter.charge("more", Loss.of_pure(Fraction(1, 10**30)))


@pytest.mark.parametrize(
    ("budget", "or_pure"),
    [(BUDGET, False), (Budget.of_rho("0.001", 1e-6), True)],
    ids=["counted by rho", "stated as rho"],
)
def test_what_is_counted_by_rho_is_spent_in_rho(budget, or_pure):
    meter = Meter(budget, or_pure=or_pure)
    assert meter.pure_share(budget.whole) is None
    with pytest.raises(BudgetExceededError):
        meter.charge("all of it", Loss.of_pure(budget.epsilon))


def test_a_share_may_be_spent_in_pure_epsilon_as_long_as_all_others_were():
    meter, whole = Meter(BUDGET, or_pure=True), Budget("0.2").whole
    assert meter.pure_share(BUDGET.whole) == whole
    parts = [meter.pure_share(BUDGET.whole.take(part)) for part in ("0.9", "0.1")]
    assert parts == [whole.take("0.9"), whole.take("0.1")]
    for part in parts:
        meter.charge("something", Loss.of_pure(part.amount))
    assert meter.spent.pure == BUDGET.epsilon
    other = Meter(BUDGET, or_pure=True)
    other.charge("something", Loss(None, BUDGET.amount / 10))
    assert other.pure_share(BUDGET.whole.take("0.1")) is None
    pure = Budget(1)
    assert Meter(pure, or_pure=True).pure_share(pure.whole) is None


@given(
    st.lists(st.tuples(st.booleans(), st.fractions(Fraction(1, 100), Fraction(1, 5))), max_size=12)
)
def test_every_order_of_answers_ends_within_epsilon_or_within_rho(asked):
    meter = Meter(BUDGET, or_pure=True)
    for is_pure, part in asked:
        loss = Loss.of_pure(part) if is_pure else Loss(None, part * BUDGET.amount)
        with suppress(BudgetExceededError):
            meter.charge("query", loss)
        spent = meter.spent
        within_pure = spent.pure is not None and spent.pure <= BUDGET.epsilon
        assert within_pure or spent.rho <= BUDGET.amount


# The fit


def test_few_rows_in_few_columns_are_clustered_as_without_delta():
    model, without = fitted(), fitted(delta=0)
    assert_array_equal(model.cluster_centers_, without.cluster_centers_)
    assert spends_pure(model)
    assert model.privacy_.spent.pure == model.privacy_.epsilon
    assert model.privacy_.delta == BUDGET.delta


RULED = Schema({name: Box(-1, 1, missing=0) for name in ("x", "y")})


@pytest.mark.parametrize(
    "changes", [{"profile_share": 0.1}, {"schema": RULED, "bounds": None}], ids=["profiles", "rule"]
)
def test_profiles_and_counts_of_missing_values_follow_in_pure_epsilon(changes):
    model, without = fitted(**changes), fitted(delta=0, **changes)
    assert_array_equal(model.cluster_centers_, without.cluster_centers_)
    assert spends_pure(model)
    assert model.privacy_.spent.pure == model.privacy_.epsilon


@pytest.mark.parametrize(
    ("rows", "changes", "method"),
    [
        (ROWS[np.arange(60_000) % 3000], {"n_clusters": 3}, "cells"),
        (ROWS, {"delta": 0, "budget": Budget.of_rho(BUDGET.amount, 1e-6)}, "grid"),
    ],
    ids=["many rows", "budget of rho"],
)
def test_other_fits_spend_rho_and_all_of_it(rows, changes, method):
    model = fitted(rows, **changes)
    assert model.method_ == method
    assert model.privacy_.spent.rho == BUDGET.amount
    assert not spends_pure(model)


@pytest.mark.parametrize("rows", [ROWS, CORNER], ids=["few", "crowded"])
@pytest.mark.parametrize("delta", [1e-300, 1e-20, 1e-12, 0.01])
def test_whatever_delta_allows_is_spent_and_no_more(rows, delta):
    spent = fitted(rows, delta=delta).privacy_
    assert (spent.epsilon, spent.delta) == (Budget("0.2").epsilon, Budget(1, delta).delta)
    # All of ε without its δ may be within the ρ as well.
    assert spent.spent.pure == spent.epsilon or spent.spent.rho == Budget("0.2", delta).amount


class FakeLedger:
    """A ledger that takes every charge."""

    def reserve(self, dataset, budget, unit, purpose, *, currency):
        self.currency = currency
        return "receipt"

    def settle(self, receipt, digest, flaws):
        """Take it."""


def test_a_fit_that_a_ledger_counts_by_its_rho_spends_rho():
    ledger = FakeLedger()
    model = fitted(ledger=ledger, dataset="rows", random_state=None)
    assert ledger.currency == "zcdp"
    assert model.privacy_.spent.rho == BUDGET.amount


def test_a_plan_rehearses_what_the_fit_will_spend():
    options = {"epsilon": 0.2, "delta": 1e-6, "bounds": (-1, 1)}
    free = PrivateKMeans(15, **options).plan(3000, 2)
    charged = PrivateKMeans(15, ledger=FakeLedger(), dataset="rows", **options).plan(3000, 2)
    assert str(free).startswith("Plan: ε = 0.2 in all, without the δ, rehearsed for 3,000 rows")
    assert str(charged).startswith("Plan: ε = 0.2, δ = 1e-06 (ρ = ")
    assert free.error_ratio < charged.error_ratio
    assert all("leave delta at 0" in plan.notes[0] for plan in (free, charged))


# What is said


def test_a_release_says_what_was_spent_and_promises_what_was_asked_for(tmp_path):
    release = fitted(random_state=None).release()
    release.save(tmp_path / "release")
    again = Release.load(tmp_path / "release")
    assert again.privacy == release.privacy
    assert (again.privacy.epsilon, again.privacy.delta) == (BUDGET.epsilon, BUDGET.delta)
    html = again.to_html()
    assert "Cost in ε" in html
    assert "without a δ" in html
