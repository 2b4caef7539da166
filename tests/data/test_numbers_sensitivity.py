"""Whatever the numbers are, neighbours change the tables of all columns by their sensitivity."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from privclust.budget import Budget
from privclust.data.numbers.public import POWERS, ZERO_CELL
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.number_views import numbers_of
from support.terms import shrunk_terms
from support.transcripts import allowed_change, change, recorded_draws

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 1), Person("who", 3)]
# Numbers of every difficult kind: zeros, subnormal ones, edges and their neighbours, no numbers.
ODD = np.array(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        1e-300,
        1.0,
        np.nextafter(1, 0),
        -1.0,
        2.0**498,
        -(2.0**498),
        1.7e308,
        -1.7e308,
        np.inf,
        -np.inf,
        np.nan,
    ]
)
EDGES = {0: POWERS, 1: np.array([-1.0, 0.0, 1.0])}


def neighbours(unit, rng):
    """Return two data sets that are neighbours under the unit."""
    rows, own = rng.choice(ODD, (5, 2)), rng.choice(ODD, (5, 2))
    if isinstance(unit, Person):
        own = own[:1].repeat(5, axis=0) if rng.random() < 0.5 else own
        data = pd.DataFrame(np.concatenate([rows, own]), columns=["a", "b"])
        data["who"] = ["other"] * 5 + ["one"] * 5
        return data, data[:5]
    if isinstance(unit, AddRemoveRow):
        return rows, np.concatenate([rows, own[:1]])
    return np.concatenate([rows, own[:1]]), np.concatenate([rows, own[1:2]])


def largest_change(unit, budget, question):
    """Return what steps between neighbours change at most, as a share of what is allowed."""
    shares = []
    for seed in range(60):
        draws = []
        for data in neighbours(unit, np.random.default_rng(seed)):
            view = numbers_of(data, unit, budget=budget)
            with recorded_draws() as drawn:
                if question == "count":
                    view.ask_count("q", budget.whole)
                else:
                    view.ask_histograms("q", EDGES, budget.whole)
            draws += drawn
        one, other = draws
        shares.append(change(one.mechanism, one.exact, other.exact) / allowed_change(one.mechanism))
    return max(shares)


@pytest.mark.parametrize("question", ["count", "histograms"])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_neighbours_change_a_table_by_its_sensitivity_and_no_more(currency, unit, question):
    reached = largest_change(unit, BUDGETS[currency], question)
    assert reached == (0 if (question, unit) == ("count", ReplaceRow()) else 1)


def test_a_sensitivity_that_is_a_little_too_small_is_noticed():
    with shrunk_terms(Fraction(999, 1000)):
        assert largest_change(AddRemoveRow(), BUDGETS["pure"], "histograms") > 1


def test_every_number_stands_in_the_one_cell_that_holds_it():
    """By brute force: compared with every edge, as a reader would."""
    for number in ODD:
        counted = numbers_of(np.array([[number, 0.0]])).ask_histograms("q", EDGES, Budget(1).whole)
        for column, value in enumerate((number, 0.0)):
            edges = np.concatenate([[-np.inf], EDGES[column], [np.inf]])
            holds = [low <= value < high for low, high in pairwise(edges)]
            finite = bool(np.isfinite(value))
            assert counted.cells[column].tolist() == [float(h and finite) for h in holds]
            assert counted.missing[column] == float(not finite)


def test_numbers_of_both_signs_have_cells_at_equal_distances_from_that_of_zero():
    for power, sign in product((-498, -3, 0, 7, 497), (1, -1)):
        number = sign * 1.5 * 2.0**power
        cells = numbers_of([[number]]).ask_histograms("q", {0: POWERS}, Budget(1).whole).cells[0]
        assert cells.argmax() == ZERO_CELL + sign * (power + 499)
    for tiny in (0.0, -0.0, 5e-324, -1e-200):
        cells = numbers_of([[tiny]]).ask_histograms("q", {0: POWERS}, Budget(1).whole).cells[0]
        assert cells.argmax() == ZERO_CELL
