"""No step between neighbours changes an exact statistic by more than its mechanism was made for.

The exact integers are caught where they enter a mechanism, for pairs of data sets that are
neighbours under each privacy unit, with rows as extreme as they can be.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from privclust.budget import Budget
from privclust.data.points.public import Projection
from privclust.schema.ball_fact import Ball
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.terms import shrunk_terms
from support.transcripts import allowed_change, change, recorded_draws
from support.views import view_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 1), Person("who", 3)]
# Random steps between neighbours, so many that some come near to every sensitivity. Steps that
# replace a row seldom do, since both rows must be extreme.
ADDED, REPLACED = 20, 60
PARTS = ["counts", "offsets", "square"]
QUESTIONS = ["count", *PARTS, *(f"grouped {part}" for part in PARTS), "moments", "histograms"]


def extreme_rows(rng, n_rows, dimension):
    """Return rows of every difficult kind: corners, far out, at the centre, at a distance of one.

    The box is (-1, 1) in each column, so its corners lie at the radius of the unit ball.
    """
    corners = rng.choice([-1.0, 1.0], (n_rows, dimension))
    inside = rng.uniform(-1, 1, (n_rows, dimension))
    axis = np.eye(dimension)[rng.integers(dimension, size=n_rows)] * rng.choice([-1, 1])
    kinds = [corners, corners * 1e300, inside, axis, 0 * inside, inside * 1e-7]
    return np.array([kinds[rng.integers(len(kinds))][i] for i in range(n_rows)])


def neighbours(unit, rng, dimension):
    """Return two data sets that are neighbours under the unit."""
    names = [f"x{j}" for j in range(dimension)]
    rows = extreme_rows(rng, rng.integers(1, 12), dimension)
    if isinstance(unit, Person):
        # One person more, who has more rows than count, anywhere among those of the others.
        own = extreme_rows(rng, unit.max_rows + 2, dimension)
        own = own[:1].repeat(len(own), axis=0) if rng.random() < 0.5 else own
        people = np.append(rng.integers(1, 4, len(rows)), np.zeros(len(own), int))
        data = pd.DataFrame(np.concatenate([rows, own]), columns=names).assign(who=people)
        data = data.iloc[rng.permutation(len(data))]
        return data, data[data["who"] > 0]
    other = extreme_rows(rng, 1, dimension)
    at = rng.integers(len(rows) + 1)
    if isinstance(unit, AddRemoveRow):
        return rows, np.insert(rows, at, other[0], axis=0)
    at = min(at, len(rows) - 1)
    other = -rows[at : at + 1] if rng.random() < 0.3 else other
    return rows, np.concatenate([rows[:at], other, rows[at + 1 :]])


def ask(view, question, share, frame, centres, clip):
    if question == "count":
        view.ask_count("count", share)
    elif question == "moments":
        view.ask_second_moments("moments", frame, share)
    elif question == "histograms":
        coordinates = np.arange(len(frame.origin))
        edges = np.tile([-0.3, 0.0, 0.2], (len(coordinates), 1)) / np.sqrt(len(coordinates))
        places = np.outer([0, 0.1], np.ones(len(coordinates)))
        view.ask_cluster_histograms("histograms", places, coordinates, edges, share)
    elif question.startswith("grouped "):
        groups = np.arange(len(centres)) % 2
        part = {question.removeprefix("grouped "): share}
        view.ask_grouped_clusters("groups", frame, centres, groups, clip, **part)
    else:
        view.ask_clusters("clusters", frame, centres, clip, **{question: share})


def exact_answers(data, unit, budget, question, frame, centres, clip):
    schema = Schema.from_bounds(-1, 1, n_columns=len(frame.origin))
    with recorded_draws() as draws:
        view = view_of(data, schema, unit, budget=budget)
        ask(view, question, budget.whole, frame, centres, clip)
    return draws[0]


def largest_change(unit, budget, question, seed):
    """Return what a random step between neighbours changes, as a share of what is allowed."""
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 6))
    origin = rng.choice([0.0, 0.5]) * rng.uniform(-1, 1, dimension) / np.sqrt(dimension)
    axes = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0][:, : rng.integers(1, 6)]
    axes = axes if rng.random() < 0.5 else None
    frame = Projection(origin, axes, rng.choice([2.0, 1.0, 0.3]), coarse=bool(rng.random() < 0.5))
    centres = rng.normal(scale=0.4, size=(rng.integers(1, 4), frame.dimension))
    centres[0] *= rng.integers(2)
    asked = (unit, budget, question, frame, centres, rng.choice([1e-9, 0.01, 0.3, 1.0, 1.9]))
    one, other = (exact_answers(data, *asked) for data in neighbours(unit, rng, dimension))
    assert one.mechanism == other.mechanism
    return change(one.mechanism, one.exact, other.exact) / allowed_change(one.mechanism)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_neighbours_change_a_statistic_by_its_sensitivity_and_no_more(currency, unit, question):
    steps = REPLACED if isinstance(unit, ReplaceRow) else ADDED
    reached = max(largest_change(unit, BUDGETS[currency], question, seed) for seed in range(steps))
    assert reached <= 1
    # The number of rows does not change if one is replaced, but is given the noise of counts. For
    # second moments the bound on a replaced row adds up two vectors at an angle of at most 90°.
    loose = {("count", ReplaceRow()): 0.0, ("moments", ReplaceRow()): 0.45}
    assert reached >= loose.get((question, unit), 0.9)


@pytest.mark.parametrize("question", ["counts", "offsets", "moments", "histograms"])
def test_a_sensitivity_that_is_a_little_too_small_is_noticed(question):
    with shrunk_terms(Fraction(999, 1000)):
        seeds = range(100)
        found = (largest_change(AddRemoveRow(), BUDGETS["pure"], question, seed) for seed in seeds)
        assert any(reached > 1 for reached in found)


def test_rows_beyond_a_declared_ball_count_as_rows_on_it():
    """Offsets may be four times as long as the ball is wide, so that only the ball holds them."""
    schema = Schema({"x0": Box(-9, 9), "x1": Box(-9, 9)}, ball=Ball(2.0, (0.0, 0.0)))
    budget, origin = BUDGETS["pure"], np.zeros((1, 2))
    exact = []
    for data in (np.zeros((1, 2)), np.array([[0, 0], [9, 9.0]])):
        with recorded_draws() as draws:
            view = view_of(data, schema, budget=budget)
            view.ask_clusters("mean", Projection(origin[0]), origin, 4.0, offsets=budget.whole)
        exact.append(draws[0])
    moved = change(exact[0].mechanism, exact[0].exact, exact[1].exact)
    on_the_ball = allowed_change(exact[0].mechanism) / 4
    assert Fraction(999, 1000) * on_the_ball < moved <= on_the_ball
