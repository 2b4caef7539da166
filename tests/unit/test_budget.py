"""Budgets are exact, split without loss, and refuse nonsense in one sentence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.budget import Budget, Share, exact
from privclust.privacy.loss import Loss

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


def test_budgets_are_values():
    assert Budget(0.5) == Budget("1/2")
    assert Budget(1, 1e-6) != Budget(1)
    assert len({Budget(1), Budget(1.0), Budget("1")}) == 1
    assert repr(Budget(1, 1e-6)) == "Budget(epsilon=1, delta=1e-06)"
    assert repr(Budget(0.25)) == "Budget(epsilon=0.25)"
