"""No pair of neighbours changes an answer by more than its noise was made for: all of them tried.

The view is asked about every small data set without noise; what its mechanisms were given and for
which scale is recorded.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.data.table.public import independent_tables
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.transcripts import recorded_draws
from support.views import table_view_of

SIZES = (2, 2, 2)
MOST_ROWS = 3
ROWS = list(product(*map(range, SIZES)))
DATA = [rows for n in range(1, MOST_ROWS + 1) for rows in combinations_with_replacement(ROWS, n)]
PERSON = Person("id", 2)
UNITS = [AddRemoveRow(), ReplaceRow(), PERSON]
PAIRS = [(0, 1), (0, 2), (1, 2)]
SETS = [(0,), (1,), (2,), (0, 1), (2, 1)]
MARGINS = [np.array([2.0, 1.0]), np.array([0.7, 2.3]), np.array([1.5, 1.5])]


def with_one_more(rows):
    return [tuple(sorted((*rows, row))) for row in ROWS]


def with_one_replaced(rows):
    for place in range(len(rows)):
        for row in ROWS:
            yield tuple(sorted((*rows[:place], row, *rows[place + 1 :])))


def neighbours(unit):
    """Every pair of small data sets that one step separates."""
    for rows in DATA:
        if isinstance(unit, ReplaceRow):
            yield from ((rows, other) for other in with_one_replaced(rows))
            continue
        for other in with_one_more(rows):
            if len(other) <= MOST_ROWS:
                yield rows, other
        if unit is PERSON and len(rows) <= MOST_ROWS - 2:
            for other in with_one_more(rows):
                yield from ((rows, more) for more in with_one_more(other))


def told(question, unit, budget):
    """Return the exact answer about every data set, and the scale of the noise."""
    answers, mechanisms = {}, set()
    for rows in DATA:
        view = table_view_of(rows, SIZES, unit=unit, budget=budget)
        with recorded_draws() as draws:
            question(view, budget.whole)
        answers[rows] = draws[0].exact
        mechanisms.update(draw.mechanism for draw in draws)
    assert len(mechanisms) == 1, "the noise must not depend on the rows"
    mechanism = mechanisms.pop()
    return answers, getattr(mechanism, "variance", None) or mechanism.scale


ADDED = {
    "histograms": lambda view, share: view.ask_histograms("q", share),
    "tables": lambda view, share: view.ask_pair_tables("q", PAIRS, share),
    "one table": lambda view, share: view.ask_pair_tables("q", [(2, 0)], share),
    "entropies": lambda view, share: view.ask_entropies("q", SETS, MOST_ROWS, share),
    "entropies, wrong scale": lambda view, share: view.ask_entropies("q", SETS, 2, share),
}
SELECTED = {
    "relevance": lambda v, s: v.ask_relevant_attributes("q", 0, 1, MOST_ROWS, s),
    "relevance, wrong scale": lambda v, s: v.ask_relevant_attributes("q", 2, 1, 2, s),
    "contexts": lambda v, s: v.ask_relevant_context("q", 1, 1, MOST_ROWS, s),
    "tree": lambda v, s: v.ask_spanning_tree("q", independent_tables(MARGINS), s.split([1, 1])[0]),
}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("name", ADDED)
def test_additive_answers_change_by_their_l1_sensitivity_and_no_more(name, unit):
    answers, scale = told(ADDED[name], unit, Budget(1))
    largest = max(np.abs(answers[a] - answers[b]).sum() for a, b in neighbours(unit))
    assert largest <= scale
    if "table" in name or name == "histograms":
        assert largest == scale  # no noise is wasted


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("name", ADDED)
def test_additive_answers_change_by_their_l2_sensitivity_and_no_more(name, unit):
    budget = Budget(1, "1e-6")
    answers, variance = told(ADDED[name], unit, budget)
    squared = variance * 2 * budget.amount
    largest = max(((answers[a] - answers[b]) ** 2).sum() for a, b in neighbours(unit))
    assert largest <= squared
    if "table" in name or name == "histograms":
        assert largest == squared


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("name", SELECTED)
def test_changes_of_two_scores_differ_by_the_range_and_no_more(name, unit):
    answers, scale = told(SELECTED[name], unit, Budget(1))
    picks = 4 if name == "tree" else 1  # half the budget, for two edges
    widest = max(np.ptp(answers[a] - answers[b]) for a, b in neighbours(unit))
    assert widest <= scale / picks


def test_one_entropy_changes_by_n_times_hb_of_one_over_n_exactly():
    """Replace-one and one attribute: the bound is reached, as the specification says."""
    answers, scale = told(
        lambda view, share: view.ask_entropies("q", [(2,)], MOST_ROWS, share),
        ReplaceRow(),
        Budget(1),
    )
    same_size = [(a, b) for a, b in neighbours(ReplaceRow()) if len(a) == MOST_ROWS]
    assert max(np.abs(answers[a] - answers[b]).sum() for a, b in same_size) == scale


def test_the_number_of_rows_costs_nothing_only_where_it_is_public():
    share = Budget(1).whole
    view = table_view_of(ROWS, SIZES, unit=ReplaceRow())
    assert view.ask_count("rows", share).value[0] == len(ROWS)
    assert view._meter.spent.pure == 0
    protected = table_view_of(ROWS, SIZES, unit=AddRemoveRow())
    protected.ask_count("rows", share)
    assert protected._meter.spent.pure == Fraction(1)
