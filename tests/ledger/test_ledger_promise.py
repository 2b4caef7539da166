"""What a statement promises of all releases together, and why it has to name conditions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privclust.budget import Budget, rho_within
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow
from support.analysts import REACH, answered, excess, gaussian


def worst_excess(epsilons: list[Fraction], delta: Fraction) -> float:
    """Return the largest mean excess over the ε that is printed in the end.

    A pot begins with the first ε. Whenever it is spent, a steward who has seen the answers either
    leaves it or raises it to the next ε, whichever is worse for the people in the data.
    """
    rhos = [float(rho_within(epsilon, delta)) for epsilon in epsilons]
    value = excess(epsilons[-1])
    for epsilon, rho, raised in zip(epsilons[-2::-1], rhos[-2::-1], rhos[:0:-1], strict=True):
        value = np.maximum(excess(epsilon), answered(value, gaussian(raised - rho)))
    return float(answered(value, gaussian(rhos[0]))[REACH])


@pytest.mark.parametrize(
    ("delta", "step", "ratio"),
    [(Fraction(1, 10**4), Fraction(1), 1.7), (Fraction(1, 100), Fraction(1, 2), 1.3)],
)
def test_grants_that_follow_answers_exceed_their_sum(delta, step, ratio):
    epsilons = [1 + step * raises for raises in range(13)]
    assert worst_excess(epsilons, delta) > ratio * delta
    for epsilon in epsilons:  # fixed beforehand, each of them holds
        assert worst_excess([epsilon], delta) <= delta


def test_a_promise_names_its_conditions(ledger: Ledger):
    ledger.grant("visits", 1, 1e-6)
    ledger.grant("visits", 2, holder="ada")
    ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test")
    promise = ledger.statement("visits").promise
    assert "together differentially private with ε = 3 and δ = 1e-06, provided that" in promise
    assert "no grant was made or raised because of what releases had shown" in promise
    assert "questions were chosen without looking at the rows" in promise
    assert "A data set is a name" in promise
    assert "people who are in no other data set of this ledger" in promise
    assert "after the first charge" not in promise


def test_grants_after_the_first_charge_are_told(ledger: Ledger):
    for holder in ("everyone", "ada"):
        ledger.grant("visits", 1, holder=holder)
    assert "after the first charge" not in ledger.statement("visits").promise
    ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test")
    ledger.grant("visits", 1)
    one = ledger.statement("visits").promise
    assert "1 grant was made or raised after the first charge." in one
    assert "If releases played a part in that, the sums do not bound the loss" in one
    ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test")
    ledger.grant("visits", 1, holder="ben")  # a pot that is made because of answers is one too
    ledger.grant("visits", 1, holder="ada")
    promise = ledger.statement("visits").promise
    assert "3 grants were made or raised after the first charge." in promise


def test_the_delta_of_a_promise_is_rounded_up(ledger: Ledger):
    ledger.grant("visits", 1, "1e-6")
    ledger.grant("visits", 1, "1e-15", holder="ada")
    assert "δ = 1.00001e-06, provided" in ledger.statement("visits").promise
