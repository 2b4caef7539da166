"""The questions of the baselines: exact by their definition, and changed by one unit as claimed."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from privclust.budget import Budget
from privclust.data.encode import GRID_RADIUS
from privclust.data.papers.kernels import (
    FACTOR_STEPS,
    GRADIENT_STEPS,
    CriticGradients,
    FactorSums,
    SwapCosts,
    loadings_of,
)
from privclust.data.papers.public import Critic
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from privclust.unit.base import UnitStep
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.transcripts import recorded_draws
from support.views import view_of

UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 3)]
BUDGET = Budget(1)
LINE = Projection(np.zeros(1), radius=1.0, coarse=True)


def rows_on_grid(rng, count, dimension):
    rows = rng.uniform(-1, 1, (count, dimension)) / np.sqrt(dimension)
    return np.rint(rows * GRID_RADIUS)


def cost(rows, centres):
    """Return the k-means cost in Python's integers."""
    return sum(
        min(sum((int(a) - int(b)) ** 2 for a, b in zip(row, c, strict=True)) for c in centres)
        for row in rows
    )


@settings(max_examples=25, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 3), projected=st.booleans())
def test_scores_are_the_costs_after_every_swap(seed, k, projected):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((3, 2)))[0] if projected else None
    frame = Projection(np.zeros(3), axes, radius=0.7, coarse=True)
    places = rng.uniform(-0.4, 0.4, (k + 4, frame.dimension))
    asked = SwapCosts(frame, places[:k], places[k:])
    rows = rows_on_grid(rng, 12, 3)
    seen, here, there = (
        asked.grid.rows(rows.copy()),
        *(asked.grid.centres(part) for part in (asked.centres, asked.candidates)),
    )
    scores = asked(rows)[0]
    assert scores[0] == -cost(seen, here)
    for centre in range(k):
        for candidate in range(4):
            after = here.copy()
            after[centre] = there[candidate]
            assert scores[1 + 4 * centre + candidate] == -cost(seen, after)


def test_a_piece_that_is_cut_gives_the_same_scores():
    rng = np.random.default_rng(0)
    asked = SwapCosts(LINE, np.array([[0.1], [0.5]]), rng.uniform(-1, 1, (7, 1)))
    rows = rows_on_grid(rng, 200, 1)
    with patch("privclust.data.papers.kernels._DISTANCES", 50):
        cut = asked(rows.copy())
    np.testing.assert_array_equal(cut, asked(rows.copy()))


def test_scores_of_many_rows_on_the_fine_grid_are_exact():
    """Each square fits a float, and the sum of some thousands does not."""
    frame = Projection(np.zeros(1), radius=1.0)
    asked = SwapCosts(frame, np.array([[1.0]]), np.array([[-1.0]]))
    rows = rows_on_grid(np.random.default_rng(0), 2**14, 1)
    right = [-cost(rows, end * np.full((1, 1), GRID_RADIUS)) for end in (1, -1)]
    assert asked(rows.copy())[0].tolist() == right


def test_loadings_are_the_non_negative_least_squares():
    rng = np.random.default_rng(1)
    # Far from parallel, so that a few sweeps come near the solution.
    components = np.eye(3, 6) + 0.3 * rng.random((3, 6))
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    rows = np.abs(rng.standard_normal((40, 6)))
    rows = np.rint(rows / np.linalg.norm(rows, axis=1, keepdims=True) * FACTOR_STEPS)
    right = np.array([nnls(components.T, row / FACTOR_STEPS)[0] for row in rows])
    np.testing.assert_allclose(loadings_of(rows, components), right, atol=0.02)


def test_the_sums_are_products_of_rows_and_loadings():
    components = np.eye(3)[:2]
    rows = np.array([[0.5, 0.25, 0.5], [0.0, 1.0, 0.0]]) * GRID_RADIUS
    total = FactorSums(components)(rows) / FACTOR_STEPS**2
    h, v = rows[:, :2] / GRID_RADIUS, rows / GRID_RADIUS
    np.testing.assert_allclose(total[:3], (h.T @ h)[np.triu_indices(2)])
    np.testing.assert_allclose(total[3:], (h.T @ v).ravel())


@settings(max_examples=60, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 4), negative=st.booleans())
def test_no_row_adds_a_longer_vector_than_claimed(seed, k, negative):
    rng = np.random.default_rng(seed)
    components = np.abs(rng.standard_normal((k, 3)))
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    row = components[[0]] if seed % 2 else np.abs(rng.standard_normal((1, 3)))
    row = row / np.linalg.norm(row) * (-1 if negative else 1)
    asked = FactorSums(components)
    added = asked(np.rint(row * GRID_RADIUS))
    assert (np.abs(added) <= asked.question.term.high).all()
    assert sum(int(x) ** 2 for x in added) <= asked.length**2


def test_loadings_are_shortened_to_the_length_of_a_row():
    """A component that is shorter on the grid than a row beside it would be loaded by more."""
    component = np.array([[600.49, 600.49, 0.0]])
    component[0, 2] = np.sqrt(FACTOR_STEPS**2 - (component**2).sum())
    row = np.array([[601, 600, 572]])
    assert (row**2).sum() <= FACTOR_STEPS**2
    assert np.rint(loadings_of(row, component / FACTOR_STEPS) * FACTOR_STEPS) > FACTOR_STEPS
    asked = FactorSums(component / FACTOR_STEPS)
    added = asked(row * (GRID_RADIUS / FACTOR_STEPS))
    assert sum(int(x) ** 2 for x in added) <= asked.length**2


def random_critic(rng, size=1.0):
    return Critic(*(size * rng.standard_normal(shape) for shape in ((4, 3), 4, 4)))


def score(critic, row):
    return float(np.maximum(critic.weights @ row + critic.shifts, 0) @ critic.heights)


def test_gradients_are_the_slopes_of_the_critic():
    rng = np.random.default_rng(2)
    critic, row = random_critic(rng, 0.5), np.array([0.3, -0.5, 0.25])
    found = CriticGradients(critic, 100.0)(np.rint(row * GRID_RADIUS)[None, :])
    slopes = [
        (score(critic.with_flat(critic.flat + step), row) - score(critic, row)) / 1e-4
        for step in 1e-4 * np.eye(len(critic.flat))
    ]
    np.testing.assert_allclose(found * 100 / GRADIENT_STEPS, slopes, atol=0.02)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.floats(0.01, 100), clip=st.floats(0.01, 10))
def test_no_row_adds_a_longer_gradient_than_claimed(seed, size, clip):
    rng = np.random.default_rng(seed)
    row = rng.standard_normal((1, 3))
    row = np.rint(row / np.linalg.norm(row) * GRID_RADIUS)
    added = CriticGradients(random_critic(rng, size), clip)(row)
    assert sum(int(x) ** 2 for x in added) <= GRADIENT_STEPS**2


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_gradients_change_by_the_length_of_the_unit_and_no_more(unit):
    # Steep enough to be shortened, and open on one side only: a replaced row turns it around.
    critic = Critic(np.array([[1.0], [-1.0]]), np.zeros(2), np.array([50.0, 50.0]))
    one, other = exact_answers(
        unit, lambda view: view.ask_critic_gradients("q", critic, 1.0, BUDGET.whole), 1
    )
    change = np.linalg.norm((other.exact - one.exact).astype(float))
    allowed = float(one.mechanism.length_sensitivity)
    assert 0.7 * allowed < change <= allowed


def neighbours(unit, dimension):
    """Return data sets that differ by one unit, as much as they can in both questions."""
    base, new = np.full((3, dimension), -0.2), np.zeros((1, dimension))
    new[0, 0] = 1.0
    if isinstance(unit, Person):
        rows = np.concatenate([base, new.repeat(3, axis=0)])
        people = pd.DataFrame(rows, columns=[f"x{i}" for i in range(dimension)])
        people["who"] = [1, 2, 2, 3, 3, 3]
        return people[:3], people
    if isinstance(unit, AddRemoveRow):
        return base, np.concatenate([base, new])
    return np.concatenate([base, -new]), np.concatenate([base, new])


def exact_answers(unit, ask, dimension):
    answers = []
    for data in neighbours(unit, dimension):
        with recorded_draws() as draws:
            ask(view_of(data, unit=unit, budget=BUDGET, kind=PapersView))
        answers.append(draws[0])
    return answers


def swap_ranges(unit):
    centres, candidates = np.array([[-1.0]]), np.array([[1.0]])
    one, other = exact_answers(
        unit, lambda view: view.ask_best_swap("q", LINE, centres, candidates, BUDGET.whole), 1
    )
    change = (other.exact - one.exact)[0]
    return int(change.max() - change.min()), one.mechanism.score_range


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_scores_of_swaps_change_by_the_range_of_the_unit_and_no_more(unit):
    used, allowed = swap_ranges(unit)
    assert used == allowed


def test_a_range_that_ignored_the_unit_would_be_noticed():
    with patch.object(ReplaceRow, "one_step", UnitStep(1)):
        used, allowed = swap_ranges(ReplaceRow())
    assert used > allowed


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_factor_sums_change_by_the_length_of_the_unit_and_no_more(unit):
    components = np.array([[1.0, 0.0]])
    one, other = exact_answers(
        unit, lambda view: view.ask_factor_sums("q", components, BUDGET.whole), 2
    )
    change = np.linalg.norm((other.exact - one.exact).astype(float))
    allowed = float(one.mechanism.length_sensitivity)
    # The box has corners at length √2, so that the longest row along an axis has 1/√2 of it.
    rows = unit.one_step.terms
    assert change == pytest.approx(rows * np.sqrt(2) * FACTOR_STEPS**2 / 2, rel=0.01)
    assert change <= allowed


def test_swaps_are_asked_only_in_frames_that_clip():
    places = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for coarse in (False, True):
        for origin in (np.zeros(3), np.array([-0.6, 0.0, 0.8])):
            whole = Projection(origin, coarse=coarse)
            with pytest.raises(ValueError, match="clips rows; give it a radius below 2"):
                SwapCosts(whole, places[:1], places[1:])
        # Rounding takes a corner of what nobody clips beyond the radius, and with it a score.
        frame = Projection(np.zeros(3), radius=1.0, coarse=coarse)
        asked = SwapCosts(frame, np.array([[-1.0, 0, 0]]), np.array([[-1.0, 0, 0]]))
        corner = np.array([[GRID_RADIUS, 1.0, 1.0]])
        assert asked(corner).min() >= -asked.largest


@pytest.mark.parametrize("ask", ["best_swap", "factor_sums", "critic_gradients"])
def test_blocks_make_no_difference(ask):
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, (300, 2))
    frame = Projection(np.zeros(2), radius=1.0, coarse=True)
    places = rng.uniform(-0.5, 0.5, (6, 2))
    components = np.abs(places[:3]) / np.linalg.norm(places[:3], axis=1, keepdims=True)
    exact = []
    for size in (300, 7):
        with recorded_draws() as draws:
            view = view_of(rows, budget=BUDGET, kind=PapersView, block_rows=size)
            if ask == "best_swap":
                view.ask_best_swap("q", frame, places[:2], places[2:], BUDGET.whole)
            elif ask == "critic_gradients":
                critic = Critic(places[:2], places[3], places[4])
                view.ask_critic_gradients("q", critic, 0.3, BUDGET.whole)
            else:
                view.ask_factor_sums("q", components, BUDGET.whole)
        exact.append(draws[0].exact)
    np.testing.assert_array_equal(*exact)
