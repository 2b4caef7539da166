"""What answers about a table can tell neighbours apart by, exactly: what was paid, and no more.

Every question, unit and currency, and every variant as a whole. With noise or sensitivities halved
the same sum exceeds what was paid.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from privclust.budget import Budget
from support.noise import halved_sensitivities, seeded_noise
from support.table_runs import (
    ASKED,
    METHODS,
    NEIGHBOURS,
    OPTIONS,
    QUESTIONS,
    TREES,
    choose_tree,
    transcript_of,
    views_of,
)
from support.transcripts import amount_lost

BUDGETS = {"pure": Budget("1.5"), "zcdp": Budget(2, 1e-6)}
CASES = {
    (question, unit.name): (QUESTIONS[question], unit, *asked)
    for (question, unit), asked in ASKED.items()
} | {("tree", unit.name): (choose_tree, unit, (2, 2, 2), pair) for unit, pair in TREES.items()}
every_case = pytest.mark.parametrize(
    ("case", "currency"),
    [(case, currency) for case in CASES for currency in BUDGETS],
    ids=lambda value: value if isinstance(value, str) else ", ".join(value),
)


def shares(method, unit, sizes, pair, currency, *, halved=False):
    """Return the loss and the price of all answers, as shares of the budget."""
    budget = BUDGETS[currency]
    found = []
    for seed in range(4):
        views = views_of(pair, sizes, unit, budget, seeded_noise(seed, halved=halved))
        transcript = transcript_of(method, views, seed % 2, budget)
        both = (transcript.loss, transcript.cost)
        found.append([amount_lost(loss, currency) / budget.amount for loss in both])
    return [max(column) for column in zip(*found, strict=True)]


@every_case
def test_a_question_loses_what_was_paid_for_it_and_no_more(case, currency):
    loss, _ = shares(*CASES[case], currency)
    assert 0.95 <= loss <= 1


@every_case
def test_halved_noise_of_a_question_is_found(case, currency):
    loss, _ = shares(*CASES[case], currency, halved=True)
    assert loss > 1


@every_case
def test_a_halved_sensitivity_of_a_question_is_found(case, currency):
    with halved_sensitivities():
        loss, _ = shares(*CASES[case], currency)
    assert loss > 1


def variant(name):
    return lambda view, share: METHODS[name](view, share, OPTIONS)


every_variant = pytest.mark.parametrize(
    ("name", "unit", "currency"),
    [(name, unit, currency) for name in METHODS for unit in NEIGHBOURS for currency in BUDGETS],
    ids=lambda value: getattr(value, "name", value),
)


# No noise is wasted. Losses are exact, so that nothing but the picks differs between seeds: all but
# the share of a selection is lost whatever is picked; these neighbours need not move its scores.
ALL_BUT_THE_SELECTION = 1 - Fraction(str(OPTIONS.selection_share))


@every_variant
def test_all_answers_of_a_variant_together_lose_at_most_the_budget(name, unit, currency):
    loss, price = shares(variant(name), unit, (2, 2, 2), NEIGHBOURS[unit], currency)
    assert ALL_BUT_THE_SELECTION <= loss <= price <= 1


@every_variant
def test_halved_noise_of_a_variant_is_found(name, unit, currency):
    loss, _ = shares(variant(name), unit, (2, 2, 2), NEIGHBOURS[unit], currency, halved=True)
    assert loss > 1
