"""No grantee gets more out of pots than their grants say: exact, over all adaptive grantees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from privclust.budget import Budget
from privclust.ledger.accounting import (
    APPROXIMATE,
    MOST,
    PURE,
    ZCDP,
    Amount,
    Pot,
    cost_of,
    grant_of,
)
from support.analysts import (
    SILENT,
    Law,
    gaussian,
    or_everything,
    randomised_response,
    worst_excess,
)

SMALL, LARGE = Budget("0.5", "0.05"), Budget(1, "0.02")
HALF = Budget(LARGE.epsilon / 2, LARGE.delta / 2)
TURNS = 6
ROUNDING = 1e-9

Questions = list[tuple[Law, Amount]]
Pots = tuple[Pot, ...]

every_kind = pytest.mark.parametrize("kind", [PURE, ZCDP, APPROXIMATE])


def granted(kind: str, grant: Budget) -> Budget:
    """Return the grant of a pot of this kind; one of pure ε has no δ."""
    return Budget(grant.epsilon) if kind == PURE else grant


def pot_of(kind: str, grant: Budget, pot: type[Pot] = Pot) -> Pot:
    """Return a new pot."""
    return pot("visits", "ada", kind).with_grant(grant_of(granted(kind, grant)))


def gaussian_question(asked: Budget) -> tuple[Law, Amount]:
    """Return a Gaussian answer that spends all of its budget."""
    return gaussian(asked.amount), cost_of(asked, ZCDP)


def telling_question(delta: Fraction, epsilon: Fraction = Fraction(0)) -> tuple[Law, Amount]:
    """Return an answer that tells all with chance δ, and a response or nothing otherwise."""
    otherwise = randomised_response(epsilon) if epsilon else SILENT
    asked = Budget(epsilon or Fraction(1, 10**12), delta)
    return or_everything(otherwise, delta), cost_of(asked, APPROXIMATE)


def questions_for(*grants: Budget) -> Questions:
    """Return questions of all currencies, for all of a grant and for parts of it."""
    sizes = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]
    responses = [(randomised_response(size), cost_of(Budget(size), PURE)) for size in sizes]
    halves = [Budget.of_rho(grant.amount / 2, grant.delta) for grant in grants]
    deltas = {delta for grant in grants for delta in (grant.delta / 2, grant.delta)}
    return [
        *responses,
        *map(gaussian_question, [*grants, *halves]),
        *map(telling_question, sorted(deltas)),
        *(telling_question(delta, Fraction(1, 2)) for delta in sorted(deltas)),
    ]


def charged(pots: Pots, questions: Questions) -> Iterator[tuple[Law, Pots]]:
    """Yield every question that some pot pays for, with the pots after it."""
    for place, pot in enumerate(pots):
        for law, cost in questions:
            if pot.covers(cost):
                yield law, (*pots[:place], pot.with_charge(cost), *pots[place + 1 :])


@every_kind
def test_a_pot_is_within_its_grant(kind):
    questions = questions_for(LARGE)
    pots = (pot_of(kind, LARGE),)
    worst = worst_excess(pots, lambda pots: charged(pots, questions), LARGE.epsilon, TURNS)
    assert worst <= granted(kind, LARGE).delta + ROUNDING


@every_kind
def test_pots_asked_in_turns_are_within_all_grants(kind):
    """The second pot is made when answers suggest it, and of the kind that they suggest."""
    questions = questions_for(SMALL, LARGE)

    def allowed(pots: Pots) -> Iterator[tuple[Law, Pots]]:
        yield from charged(pots, questions)
        if len(pots) == 1:
            yield from (
                (SILENT, (*pots, pot_of(name, LARGE))) for name in (PURE, ZCDP, APPROXIMATE)
            )

    epsilon = SMALL.epsilon + LARGE.epsilon
    worst = worst_excess((pot_of(kind, SMALL),), allowed, epsilon, TURNS)
    # Below the sum of the δ: given what came before, an answer from one pot says nothing about the
    # next one from the other, so the chances that neither fails multiply.
    assert worst <= 1 - (1 - granted(kind, SMALL).delta) * (1 - LARGE.delta) + ROUNDING


@every_kind
def test_a_pot_that_answers_raise_is_within_what_it_could_reach(kind):
    first, questions = pot_of(kind, HALF), questions_for(HALF, LARGE)

    def allowed(pots: Pots) -> Iterator[tuple[Law, Pots]]:
        yield from charged(pots, questions)
        (pot,) = pots
        if pot.granted == first.granted:
            yield SILENT, (pot.with_grant(grant_of(granted(kind, HALF))),)

    worst = worst_excess((first,), allowed, LARGE.epsilon, TURNS)
    assert worst <= granted(kind, LARGE).delta + ROUNDING


class Mixed(Pot):
    """A pot whose charges may end within ρ or within the sums of ε and δ, whichever they like."""

    def covers(self, cost: Amount) -> bool:
        after = self.spent + cost
        within = after.epsilon <= self.granted.epsilon and after.delta <= self.granted.delta
        return within or after.rho <= self.granted.rho


def test_sums_of_delta_beside_rho_in_one_pot_would_break_the_promise():
    """She asks for a little ρ, and then for the rest of it or for the rest of δ."""
    little = Budget.of_rho("0.04", LARGE.delta / 100)
    rest = Budget.of_rho(LARGE.amount - little.amount - Fraction(1, 10**9), LARGE.delta)
    law, cost = telling_question(LARGE.delta - little.delta)
    questions = [gaussian_question(little), gaussian_question(rest), (law, replace(cost, rho=MOST))]
    pots = (pot_of(ZCDP, LARGE, Mixed),)
    worst = worst_excess(pots, lambda pots: charged(pots, questions), LARGE.epsilon, TURNS)
    assert worst > Fraction(105, 100) * LARGE.delta
