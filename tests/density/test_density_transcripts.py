"""What the answers of a density can tell neighbours apart by: what was paid, and no more."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from privclust.budget import Budget, Loss
from privclust.data.points.door import PointRows
from privclust.density.grid_counts import Grid, _ask_counts, ask_density
from privclust.opening.rows import open_points
from privclust.privacy.meter import Meter
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.doors import PairOfDoors
from support.noise import NoNoise, seeded_noise
from support.transcripts import amount_lost, recorded_draws
from support.views import plenty_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
COLUMNS = {1: ["x"], 2: ["x", "n"], 3: ["x", "n", "y"]}
FACTS = {"x": Box(0, 1), "n": Box(0, 9, form="integer"), "y": Box(-1, 1)}
CROWD = np.random.default_rng(0).uniform([0.2, 2, -0.5], [0.4, 5, 0.5], (500, 3))


def door_of(rows, columns, unit, noise):
    schema = Schema({name: FACTS[name] for name in COLUMNS[columns]})
    opened = open_points(rows[:, :columns], schema=schema, unit=unit)
    return PointRows(opened, rescale=True, noise=noise)


def a_run(budget):
    return SimpleNamespace(meter=None, seed=None, budget=budget, another_seed=lambda: None)


@pytest.mark.parametrize("least", [0.01, 0.001, None])
@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_a_density_costs_its_budget_and_more_if_noise_is_halved(
    currency, unit, columns, halved, least
):
    budget, noise = BUDGETS[currency], seeded_noise(0, halved=halved)
    near, far = np.array([[0.3, 3, 0]]), np.array([[1.0, 9, 1]])
    left = np.vstack([CROWD, near]) if isinstance(unit, ReplaceRow) else CROWD
    pair = PairOfDoors(
        [door_of(rows, columns, unit, noise) for rows in (left, np.vstack([CROWD, far]))], budget
    )
    ask_density(pair, a_run(budget), least)
    cost, lost = (
        amount_lost(Loss.total(getattr(t, part) for t in pair.transcripts), currency)
        for part in ("cost", "loss")
    )
    assert lost <= cost
    assert (cost > budget.amount) == halved
    assert halved or cost > 0.999 * budget.amount
    # A row more changes one count and one cell by one, a replaced one two cells: all of it is seen,
    # in zCDP half of what is paid for a replaced row, whose two cells count by squares.
    assert lost >= 0.999 * cost / (2 if (currency, unit) == ("zcdp", ReplaceRow()) else 1)
    assert (lost > budget.amount) == halved


# Every small data set: one row more is one more in one cell, whatever the columns.

PLACES = [*product([0.0, 0.25, 0.9, 7.0], [0, 3, 4, 9], [-1.0, 0.0, 1.0])]


def exact_counts(rows, columns):
    door = door_of(np.array(rows, float).reshape(-1, 3), columns, AddRemoveRow(), NoNoise())
    run = a_run(Budget(1))
    run.meter = Meter(plenty_of(Budget(1)))
    grid = Grid.over(door.schema, 4)
    with recorded_draws() as draws:
        _ask_counts(door, run, grid, Budget(1).whole)
    (draw,) = draws
    return draw.exact.reshape(grid.sides), draw.mechanism


@pytest.mark.parametrize("columns", COLUMNS)
def test_one_row_more_is_one_more_in_one_cell(columns):
    for row, other in product(PLACES, PLACES[::7]):
        before, _ = exact_counts([other], columns)
        after, mechanism = exact_counts([other, row], columns)
        change = after - before
        assert set(np.unique(change)) == {0, 1}
        assert change.sum() == mechanism.scale == 1


@pytest.mark.parametrize("columns", COLUMNS)
def test_counts_are_those_of_the_cells_and_no_order_matters(columns):
    counts, _ = exact_counts(CROWD, columns)
    grid = Grid.over(Schema({name: FACTS[name] for name in COLUMNS[columns]}), 4)
    edges = [
        low + width * np.arange(side + 1)
        for low, width, side in zip(grid.low, grid.widths, grid.sides, strict=True)
    ]
    expected = np.histogramdd(CROWD[:, :columns], edges)[0]
    # Of three columns, two are on a coarser grid: a row at a border may be in the next cell.
    assert np.abs(counts - expected).sum() <= (8 if columns == 3 else 0)
    assert counts.sum() == len(CROWD)
    again, _ = exact_counts(CROWD[np.random.default_rng(1).permutation(len(CROWD))], columns)
    np.testing.assert_array_equal(counts, again)
