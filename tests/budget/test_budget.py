"""Budgets are exact, split without loss, and refuse nonsense in one sentence."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.budget import Budget, Loss, Share, epsilon_spent, exact

weights = st.lists(st.floats(1e-6, 1e6) | st.fractions(Fraction(1, 999), 999), min_size=1)


@pytest.mark.parametrize("tenth", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_a_number_means_what_its_writer_wrote(tenth):
    assert exact(tenth) == Fraction(1, 10)


def test_numpy_numbers_are_numbers():
    assert exact(np.float64(0.1)) == Fraction(1, 10)
    assert exact(np.int64(3)) == 3
    assert exact(np.float32(0.5)) == Fraction(1, 2)


@given(weights, st.floats(1e-6, 100), st.sampled_from([0, 1e-6]))
def test_parts_of_a_split_add_up_to_the_whole_exactly(weights, epsilon, delta):
    budget = Budget(epsilon, delta)
    parts = budget.split(weights)
    assert sum(part.amount for part in parts) == budget.amount
    assert all(part.amount > 0 for part in parts)


@given(weights)
def test_the_remainder_is_what_the_other_parts_left(weights):
    whole = Budget(1).whole
    first, *others = whole.split([*weights, 1])
    assert whole.remainder(first).amount == sum(part.amount for part in others)


def test_ten_tenths_make_a_whole_and_nothing_remains():
    whole = Budget(1).whole
    tenths = [whole.take(0.1)] * 9
    assert whole.remainder(*tenths).amount == Fraction(1, 10)
    with pytest.raises(ValueError, match="Nothing remains"):
        whole.remainder(*tenths, whole.take(0.1))


@pytest.mark.parametrize("epsilon", [0, -1, -1e-9, float("nan"), float("inf"), "nan", "ten", ""])
def test_a_senseless_epsilon_is_refused_in_one_sentence(epsilon):
    with pytest.raises(ValueError, match=r"^epsilon must be [^.]*, got [^\n]*\.$"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, 2, float("nan"), float("-inf")])
def test_a_senseless_delta_is_refused_in_one_sentence(delta):
    with pytest.raises(ValueError, match=r"^delta must be [^\n]*, got [^\n]*\.$"):
        Budget(1, delta)


@pytest.mark.parametrize("epsilon", [True, None, [1], 1j])
def test_what_is_no_number_is_refused(epsilon):
    with pytest.raises((TypeError, ValueError), match=r"^epsilon must be a"):
        Budget(epsilon)


@pytest.mark.parametrize("bad", [[], [0], [1, -1], [float("nan")]])
def test_senseless_weights_are_refused(bad):
    with pytest.raises(ValueError, match="weight"):
        Budget(1).split(bad)


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5])
def test_a_fraction_outside_the_share_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction must be"):
        Budget(1).whole.take(fraction)


def test_currencies_do_not_mix():
    with pytest.raises(ValueError, match="different currencies"):
        Budget(1).remainder(Share("zcdp", Fraction(1, 100)))


def test_a_budget_covers_losses_in_its_own_currency():
    half = Loss(Fraction(1, 2), Fraction(1, 8))
    assert Budget(1).covers(half + half)
    assert not Budget(1).covers(half + half + Loss(Fraction(1, 10**30), Fraction(0)))
    assert not Budget(1).covers(Loss(None, Fraction(1, 10**9)))  # Gaussian noise has no pure cost
    approximate = Budget(1, 1e-6)
    assert approximate.covers(Loss(None, approximate.amount))
    assert not approximate.covers(Loss(None, approximate.amount + Fraction(1, 10**40)))
    # A selection has a small pure cost as well, which pays for nothing in the other currency.
    assert not approximate.covers(Loss(Fraction(1, 100), approximate.amount + Fraction(1, 10**40)))


def test_budgets_are_values():
    assert Budget(0.5) == Budget("1/2")
    assert Budget(1, 1e-6) != Budget(1)
    assert len({Budget(1), Budget(1.0), Budget("1")}) == 1
    assert repr(Budget(1, 1e-6)) == "Budget(epsilon=1, delta=1e-06)"
    assert repr(Budget(0.25)) == "Budget(epsilon=0.25)"
    assert repr(Budget(1, 0.999999999999)) == "Budget(epsilon=1, delta=0.999999999999)"


rhos = st.fractions(Fraction(1, 10**9), 100) | st.sampled_from(["1e-15", "0.02", 1e11])
deltas = st.sampled_from([1e-300, 1e-30, 1e-6, 0.3, 0.99])


@given(rhos, deltas)
def test_a_budget_of_rho_can_spend_rho_exactly_and_states_what_that_implies(rho, delta):
    budget = Budget.of_rho(rho, delta)
    assert budget.amount == exact(rho)
    assert budget.currency == "zcdp"
    assert budget.delta == exact(delta)
    assert budget.epsilon >= epsilon_spent(budget.amount, budget.delta)
    assert (budget.epsilon * 10**12).denominator == 1
    # Whoever reads (ε, δ) in a statement finds that ρ is covered by it, and by little less.
    assert Budget(budget.epsilon, budget.delta).amount >= budget.amount
    slack = Fraction(2, 10**12) + budget.epsilon / 10**12
    assert budget.epsilon - slack <= max(0, epsilon_spent(budget.amount, budget.delta))


def test_a_budget_of_rho_is_a_value_and_says_how_it_was_given():
    budget = Budget.of_rho("0.02", 1e-6)
    assert repr(budget) == "Budget.of_rho(0.02, delta=1e-06)"
    assert budget == Budget.of_rho(Fraction(1, 50), "1e-6") != Budget.of_rho("0.03", 1e-6)
    assert copy.deepcopy(budget) == pickle.loads(pickle.dumps(budget)) == budget
    assert float(budget.epsilon) == pytest.approx(0.899935, abs=1e-6)
    assert sum(part.amount for part in budget.split([1, 2])) == Fraction(1, 50)


@pytest.mark.parametrize(
    ("rho", "delta"), [(0, 1e-6), (-1, 1e-6), ("1e-16", 1e-6), (1e12, 1e-6), (1, 0), (1, 1)]
)
def test_a_senseless_rho_is_refused_in_one_sentence(rho, delta):
    with pytest.raises(ValueError, match=r"^[^\n]*(rho|delta)[^\n]*\.$"):
        Budget.of_rho(rho, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e-400", 0), (1e-16, 0), (1e300, 0), ("1e400", 1e-6), (1, "1e-301"), (1, "1e-5000")],
)
def test_what_no_float_can_hold_is_refused_in_one_sentence(epsilon, delta):
    with pytest.raises(ValueError, match=r"^(epsilon|delta) must be [^\n]*, got [^\n]*\.$"):
        Budget(epsilon, delta)


def test_a_fit_takes_a_budget_or_its_numbers():
    assert Budget.of(1, 1e-6) == Budget.of(Budget(1, 1e-6)) == Budget(1, 1e-6)
    budget = Budget.of_rho("0.02", 1e-6)
    assert Budget.of(budget) is budget
    assert Budget.of(budget, 1e-6) is budget
    with pytest.raises(ValueError, match=r"leave delta at 0\.$"):
        Budget.of(budget, 1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "complaint"),
    [
        (1e-12, 0, "too small"),
        ("0.00009999", 0, "too small"),
        (1e-6, 1e-6, "too small"),
        (2e6, 0, "too large"),
        (1e9, 1e-6, "too large"),
    ],
)
def test_a_fit_without_usable_noise_is_refused_before_anything_is_charged(
    epsilon, delta, complaint
):
    with pytest.raises(ValueError, match=rf"^Budget\([^\n]*{complaint}[^\n]*\.$"):
        Budget.of(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 0), (1e6, 0), (0.001, 1e-6), (1, 1e-300)])
def test_a_fit_at_the_edge_of_usable_noise_is_not_refused(epsilon, delta):
    assert Budget.of(epsilon, delta) == Budget(epsilon, delta)
