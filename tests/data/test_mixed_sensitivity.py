"""No step between neighbouring mixed tables changes a statistic by more than noise is made for.

All rows of a small domain are tried, corners of simplices, missing values and numbers at their
bounds; the exact integers are caught where they enter a mechanism.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from privclust.budget import Budget
from privclust.data.points.public import Projection
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.terms import shrunk_terms
from support.transcripts import allowed_change, change, recorded_draws
from support.views import view_of

SCHEMA = Schema(
    {
        "x": Box(0, 1),
        "a": Categories(["p", "q", "r"], unknown="other"),
        "b": Bins([0, 1, 2], missing="omit", weight=3),
    }
)
DOMAIN = list(product([0.0, 0.5, 1e300], ["p", "?"], [0.5, 1.5, None]))
PEOPLE = [(row, other, row) for row, other in product(DOMAIN[::6], DOMAIN[1::5])]
CROWD = [(0.0, "p", 0.5), (1.0, "r", 1.5), (0.5, "q", None)]
DIMENSION = 1 + 4 + 2
BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
UNITS = [
    (AddRemoveRow(), "pure"),
    (AddRemoveRow(), "zcdp"),
    (ReplaceRow(), "zcdp"),
    (Person("who", 2), "pure"),
]
QUESTIONS = ["counts", "offsets", "square", "moments"]
AXES = np.linalg.qr(np.random.default_rng(0).normal(size=(DIMENSION, 3)))[0]
FRAMES = {
    "clipped": Projection(np.full(DIMENSION, 0.1), radius=0.5),
    "projected": Projection(np.full(DIMENSION, 0.1), AXES, radius=0.4, coarse=True),
}


def table(rows):
    return pd.DataFrame(rows, columns=["x", "a", "b"])


def neighbours(unit):
    """Return every table with one row or person more, and which pairs of them are neighbours."""
    if isinstance(unit, Person):
        people = [table([*CROWD, *own]).assign(who=[1, 2, 3, 4, 4, 4]) for own in PEOPLE]
        tables = [table(CROWD).assign(who=[1, 2, 3]), *people]
    elif isinstance(unit, ReplaceRow):
        tables = [table([*CROWD, row]) for row in DOMAIN]
        return tables, combinations(range(len(tables)), 2)
    else:
        tables = [table(CROWD), *(table([*CROWD, row]) for row in DOMAIN)]
    return tables, [(0, number) for number in range(1, len(tables))]


def exact(data, unit, budget, question, frame, centres, clip):
    with recorded_draws() as draws:
        view = view_of(data, SCHEMA, unit, budget=budget, rescale=True)
        if question == "moments":
            view.ask_second_moments("q", frame, budget.whole)
        else:
            view.ask_clusters("q", frame, centres, clip, **{question: budget.whole})
    return draws[0]


def largest_change(unit, budget, question, frame, clip):
    """Return the most that a pair of neighbours changes, as a share of what is allowed."""
    centres = 0.3 * np.random.default_rng(1).normal(size=(2, frame.dimension))
    asked = (unit, budget, question, frame, centres, clip)
    tables, pairs = neighbours(unit)
    draws = [exact(data, *asked) for data in tables]
    (mechanism,) = {draw.mechanism for draw in draws}
    allowed = allowed_change(mechanism)
    shares = [change(mechanism, draws[i].exact, draws[j].exact) / allowed for i, j in pairs]
    return max(shares)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("unit", "currency"), UNITS, ids=str)
def test_mixed_neighbours_change_a_statistic_by_its_sensitivity_and_no_more(
    unit, currency, question, frame
):
    reached = largest_change(unit, BUDGETS[currency], question, frame, 0.2)
    assert reached <= 1
    if not isinstance(unit, ReplaceRow):  # two rows that are both clipped may hardly differ
        assert reached >= 0.9


@pytest.mark.parametrize("question", ["counts", "offsets", "moments"])
def test_a_sensitivity_that_is_a_little_too_small_is_noticed(question):
    with shrunk_terms(Fraction(99, 100)):
        frame = FRAMES["clipped"]
        assert largest_change(AddRemoveRow(), BUDGETS["pure"], question, frame, 0.2) > 1
