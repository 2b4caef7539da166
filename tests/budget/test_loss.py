"""Losses compose exactly; conversions are tight, and rounded against the user."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from privclust import budget as loss
from privclust.budget import NO_LOSS, Budget, Loss, epsilon_spent, rho_within

rhos = st.floats(1e-8, 1e3).map(lambda value: Fraction(repr(value)))
deltas = st.floats(1e-15, 0.4).map(lambda value: Fraction(repr(value)))
losses = st.builds(Loss, st.none() | st.fractions(0, 9), st.fractions(0, 9))


@given(losses, losses, losses)
def test_composition_is_a_sum(a, b, c):
    assert (a + b) + c == a + (b + c) == Loss.total([c, a, b])
    assert a + NO_LOSS == a
    assert a.times(3) == a + a + a


@given(rhos, deltas)
def test_epsilon_and_rho_are_inverse_to_each_other(rho, delta):
    epsilon = epsilon_spent(rho, delta)
    if epsilon == 0:
        return
    back = rho_within(epsilon, delta)
    assert float(back) == pytest.approx(float(rho), rel=1e-6)
    assert float(epsilon_spent(back, delta)) <= float(epsilon) * (1 + 1e-12)


@given(rhos, deltas)
def test_the_gaussian_mechanism_never_costs_more_than_we_say(rho, delta):
    """The exact trade-off of Gaussian noise is a lower bound for any valid conversion."""
    epsilon = float(epsilon_spent(rho, delta))
    mu = math.sqrt(2 * float(rho))
    exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(
        epsilon + norm.logcdf(-mu / 2 - epsilon / mu)
    )
    assert exact <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_the_conversion_beats_the_simple_one_and_every_order_tried(rho, delta):
    epsilon = float(epsilon_spent(Fraction(repr(rho)), Fraction(repr(delta))))
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert epsilon < simple
    orders = 1 + np.logspace(-4, 6, 20_000)
    tried = orders * rho + (
        math.log(1 / delta) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    ) / (orders - 1)
    assert epsilon <= max(tried.min(), 0) * (1 + 1e-12)
    assert epsilon >= max(tried.min(), 0) * (1 - 1e-5)


# The formula of the conversion at a given order, to 120 digits, as an oracle for the thirtieth.
PRECISE = Context(prec=120)
orders = st.decimals("1.00001", "1e9", places=5)


def precise(value: Fraction) -> Decimal:
    return PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def penalty(order: Decimal, delta: Fraction) -> Decimal:
    with localcontext(PRECISE):
        one_less = order - 1
        return (order * (one_less / order).ln() - one_less.ln() - precise(delta).ln()) / one_less


def in_the_thirtieth_digit(value: Decimal) -> Decimal:
    with localcontext(PRECISE):
        return (1 + abs(value)) * Decimal("1e-28")


@contextmanager
def searching(order: Decimal) -> Iterator[None]:
    """Let the search for the best order find this one; every order gives a valid bound."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loss, "_best_order", lambda bound: order)
        yield


@given(rhos, deltas, orders)
def test_a_cost_is_rounded_up_in_its_last_digit(rho, delta, order):
    with searching(order):
        spent = precise(epsilon_spent(rho, delta))
    with localcontext(PRECISE):
        true = precise(rho) * order + penalty(order, delta)
        assert (
            max(Decimal(0), true) <= spent <= max(Decimal(0), true + in_the_thirtieth_digit(true))
        )


@given(st.fractions(Fraction(1, 1000), 100), deltas, orders)
def test_a_grant_is_rounded_down_in_its_last_digit(epsilon, delta, order):
    with localcontext(PRECISE):
        true = (precise(epsilon) - penalty(order, delta)) / order
    assume(true > Decimal("1e-20"))
    with searching(order):
        granted = precise(rho_within(epsilon, delta))
    with localcontext(PRECISE):
        assert true - in_the_thirtieth_digit(true) <= granted <= true


def test_no_loss_costs_nothing():
    assert NO_LOSS.epsilon() == 0
    assert NO_LOSS.epsilon(Fraction(1, 10)) == 0


def test_a_loss_reports_the_better_of_its_two_currencies():
    delta = Fraction(1, 10**6)
    few = Loss.of_pure(Fraction(1, 10))
    assert few.epsilon(delta) == Fraction(1, 10)
    many = Loss.of_pure(Fraction(1, 100)).times(1000)
    assert many.epsilon(delta) < many.epsilon() == 10
    assert Loss(None, Fraction(1, 2)).epsilon() is None


@pytest.mark.parametrize("amounts", [(Fraction(-1), Fraction(0)), (None, Fraction(-1, 2))])
def test_negative_losses_do_not_exist(amounts):
    with pytest.raises(ValueError, match="negative"):
        Loss(*amounts)


def test_a_negative_number_of_answers_does_not_exist():
    with pytest.raises(ValueError, match="negative"):
        NO_LOSS.times(-1)


# dp-accounting as an oracle, for the events it supports.
ORDERS = 1 + np.logspace(-3, 4, 4000)
DELTA = 1e-6


def test_composed_gaussians_agree_with_dp_accounting():
    noise_multipliers = [3.0, 5.0, 8.0, 8.0]
    accountant = RdpAccountant(ORDERS)
    for multiplier in noise_multipliers:
        accountant.compose(dp_accounting.GaussianDpEvent(multiplier))
    ours = Loss.total(Loss(None, Fraction(1, int(2 * m * m))) for m in noise_multipliers)
    theirs = accountant.get_epsilon(DELTA)
    assert float(ours.epsilon(Fraction(1, 10**6))) == pytest.approx(theirs, rel=1e-4)


def test_composed_concentrated_losses_agree_with_dp_accounting():
    accountant = RdpAccountant(ORDERS)
    accountant.compose(dp_accounting.dp_event.ZCDpEvent(rho=0.01), 7)
    ours = Loss(None, Fraction(1, 100)).times(7)
    theirs = accountant.get_epsilon(DELTA)
    assert float(ours.epsilon(Fraction(1, 10**6))) == pytest.approx(theirs, rel=1e-4)


def test_composed_laplaces_agree_with_dp_accounting():
    """Pure losses add up; a privacy loss distribution at a tiny δ must say nearly the same."""
    accountant = PLDAccountant()
    accountant.compose(dp_accounting.LaplaceDpEvent(noise_multiplier=5.0), 4)
    ours = Loss.of_pure(Fraction(1, 5)).times(4)
    assert float(ours.epsilon()) == pytest.approx(accountant.get_epsilon(1e-9), rel=1e-3)
    exact_rdp = RdpAccountant(ORDERS)
    exact_rdp.compose(dp_accounting.LaplaceDpEvent(noise_multiplier=50.0), 400)
    ours = Loss.of_pure(Fraction(1, 50)).times(400)
    theirs = exact_rdp.get_epsilon(DELTA)
    assert theirs <= float(ours.epsilon(Fraction(1, 10**6))) <= theirs * 1.02


def test_a_whole_budget_agrees_with_dp_accounting():
    budget = Budget(1, DELTA)
    accountant = RdpAccountant(ORDERS)
    accountant.compose(dp_accounting.dp_event.ZCDpEvent(rho=float(budget.amount)))
    assert accountant.get_epsilon(DELTA) == pytest.approx(1, rel=1e-4)
