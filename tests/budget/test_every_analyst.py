"""No analyst gets more out of a meter than its budget says: exact, over all adaptive analysts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from privclust.budget import NO_LOSS, Budget, Loss
from privclust.exceptions import BudgetExceededError
from privclust.privacy.meter import Charge, Meter
from support.analysts import Law, gaussian, randomised_response, two_losses, worst_excess

BUDGETS = [Budget(1, "0.01"), Budget(2, "0.05")]
TURNS = 10
PARTS = [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
ROUNDING = 1e-9

Questions = list[tuple[Law, Loss]]


def pure_questions(budget: Budget) -> Questions:
    """Return answers of parts of the ε, by randomised response and by choices of bounded range."""
    sizes = [part * budget.epsilon for part in PARTS]
    responses = [(randomised_response(size), Loss.of_pure(size)) for size in sizes]
    ranges = [
        (two_losses(high * size, (high - 1) * size), Loss.of_bounded_range(size))
        for size in sizes[1:]
        for high in (Fraction(1, 4), Fraction(3, 4))
    ]
    return responses + ranges


def gaussian_questions(budget: Budget) -> Questions:
    """Return answers that cost parts of the ρ, and no finite ε."""
    parts = [*PARTS, Fraction(3, 8)]
    return [(gaussian(part * budget.amount), Loss(None, part * budget.amount)) for part in parts]


def worst_delta(budget: Budget, questions: Questions, *, or_pure: bool = True) -> float:
    """Return the least δ that covers, at the ε of the budget, whatever analysts ask a meter."""

    def allowed(spent: Loss) -> Iterator[tuple[Law, Loss]]:
        for law, loss in questions:
            meter = Meter(budget, or_pure=or_pure)
            with suppress(BudgetExceededError):
                meter.charge_all([Charge("before", spent), Charge("next", loss)])
                yield law, meter.spent

    return worst_excess(NO_LOSS, allowed, budget.epsilon, TURNS)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_laws_lose_what_their_questions_cost(budget):
    for law, loss in pure_questions(budget) + gaussian_questions(budget):
        chances, losses = law.chances, law.losses
        assert chances.sum() == pytest.approx(1, abs=ROUNDING)
        assert chances @ np.exp(-losses) == pytest.approx(1, abs=ROUNDING)
        for order in (1.01, 1.5, 2, 4, 8):
            moment = np.log(chances @ np.exp((order - 1) * losses)) / (order - 1)
            assert moment <= order * float(loss.rho) * (1 + 1e-6)
        if loss.pure is not None:
            assert np.abs(losses[chances > 0]).max() <= loss.pure


@pytest.mark.parametrize("or_pure", [True, False])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_whoever_ends_within_rho_or_within_epsilon_is_within_delta(budget, or_pure):
    questions = pure_questions(budget) + gaussian_questions(budget)
    worst = worst_delta(budget, questions, or_pure=or_pure)
    assert budget.delta / 4 < worst <= budget.delta


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_pure_epsilon_alone_needs_no_delta(budget):
    alone = Budget(budget.epsilon)
    questions = pure_questions(budget) + gaussian_questions(budget)
    assert worst_delta(alone, questions) <= ROUNDING
    assert worst_delta(budget, pure_questions(budget)) <= budget.delta


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_pure_answers_that_cost_no_rho_would_break_the_promise(budget):
    forgotten = [(law, Loss(loss.pure, Fraction(0))) for law, loss in pure_questions(budget)]
    assert worst_delta(budget, forgotten + gaussian_questions(budget)) > 10 * budget.delta
