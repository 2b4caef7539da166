"""What all answers of a summary with tables can tell neighbours apart by: what was paid, no more.

Cells, histograms, groups, the tree and its tables come from views of one door, so the transcripts
of all views are added up.
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from privclust.budget import Budget, Loss
from privclust.clustering.ask_tables import ask_with_tables
from privclust.clustering.summarise import ask_summary
from privclust.data.points.door import PointRows
from privclust.data.table.public import CellGroups, Cut
from privclust.notes import signal_of
from privclust.opening.rows import open_points
from privclust.privacy.meter import Meter
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.doors import PairOfDoors
from support.noise import NoNoise, seeded_noise
from support.transcripts import amount_lost, recorded_draws
from support.views import plenty_of

BUDGETS = {"pure": Budget(4), "zcdp": Budget(4, 1e-6)}
SCHEMA = Schema(
    {
        "x": Box(0, 1),
        "n": Box(0, 20_000, form="integer"),
        "a": Categories(list("abc")),
        "b": Categories(list("de")),
    }
)
RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 2, 3000)
CROWD = pd.DataFrame(
    {
        "x": np.clip(0.3 + 0.4 * KIND + RNG.normal(0, 0.05, 3000), 0, 1),
        "n": np.where(KIND == 1, 0, RNG.integers(0, 9000, 3000)),
        "a": np.array(list("ab"))[KIND],
        "b": np.array(list("de"))[KIND ^ (RNG.random(3000) < 0.1)],
    }
)
FAR = pd.DataFrame({"x": [1.0], "n": [20_000], "a": ["c"], "b": ["d"]})
NEAR = pd.DataFrame({"x": [0.3], "n": [0], "a": ["a"], "b": ["e"]})


def run_of(budget, unit, *, halved=False, seed=0):
    """Return the doors after a whole run, and what it released."""
    left = pd.concat([CROWD, NEAR]) if isinstance(unit, ReplaceRow) else CROWD
    noise = seeded_noise(seed, halved=halved)
    doors = [
        PointRows(open_points(rows, schema=SCHEMA, unit=unit), rescale=True, noise=noise)
        for rows in (left, pd.concat([CROWD, FAR]))
    ]
    pair = PairOfDoors(doors, budget)
    run, rng = SimpleNamespace(meter=None, seed=None), np.random.default_rng(0)
    view = pair.private()

    def ask_cells(share, known):
        return ask_summary(view, share, rng, known)

    result = ask_with_tables(pair, run, budget.whole, ask_cells)
    return pair, result


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_cells_and_tables_cost_their_budget_and_more_if_noise_is_halved(currency, unit, halved):
    budget = BUDGETS[currency]
    pair, result = run_of(budget, unit, halved=halved)
    cost = Loss.total(transcript.cost for transcript in pair.transcripts)
    lost = Loss.total(transcript.loss for transcript in pair.transcripts)
    cost, lost = (amount_lost(loss, currency) for loss in (cost, lost))
    assert lost <= cost
    assert (cost > budget.amount) == halved
    assert halved or cost > 0.96 * budget.amount
    # Of what histograms, groups, tree and tables cost, the far row shows nearly all.
    tables = (
        Loss.total(t.loss for t in pair.transcripts[1:]),
        Loss.total(t.cost for t in pair.transcripts[1:]),
    )
    seen, paid = (amount_lost(loss, currency) for loss in tables)
    assert seen > (0.6 if isinstance(unit, AddRemoveRow) else 0.3) * paid
    assert signal_of(result.notes) == "seen"


@pytest.mark.parametrize("currency", BUDGETS)
def test_every_kind_of_question_is_asked(currency):
    """Else the test above would not cover it."""
    pair, result = run_of(BUDGETS[currency], AddRemoveRow())
    tables = result.tables
    assert (len(tables.pairs) > 3) == (currency == "zcdp")  # a second tree with a delta
    assert len(tables.group_counts) > 1
    assert tables.histograms.levels.max() == 2
    assert len(pair.transcripts) == 5  # cells, three levels of histograms, and tables


def test_a_halved_noise_of_the_tables_is_found_by_the_far_row():
    pair, _ = run_of(BUDGETS["pure"], AddRemoveRow(), halved=True)
    lost = Loss.total(transcript.loss for transcript in pair.transcripts[1:])
    full, _ = run_of(BUDGETS["pure"], AddRemoveRow())
    paid = Loss.total(transcript.cost for transcript in full.transcripts[1:])
    assert lost.pure > paid.pure


# Every small data set: a row stands in one cell of each table, whatever the cuts.

CUTS = [
    Cut(0, np.array([0.25, 0.5]), np.array([1, 0, 1])),
    Cut(2, np.array([0.5, 1.5]), np.array([0, 0, 1])),
    Cut(1, np.array([0.5, 9000.5]), np.arange(3)),
]
GROUPS = [CellGroups(np.array([[-0.3] * 7, [0.3] * 7, [0.1] * 7]), np.array([0, 1, 0]))]
PAIRS = [(0, 1), (0, 2), (2, 3)]
POSSIBLE = list(product([0.0, 0.25, 0.9], [0, 20_000], "ac", "e"))
TABLES = {(i, j): np.full((2 + (i == 2), 2 + (j == 2)), 0.7) for i, j in [(0, 1), (0, 2), (1, 2)]}
ASKED = {
    "histograms": ((), lambda v, s: v.ask_histograms("q", s)),
    "tables": (PAIRS, lambda v, s: v.ask_pair_tables("q", PAIRS, s)),
    "tree": (list(TABLES), lambda v, s: v.ask_spanning_tree("q", TABLES, s, [9, 0, 12])),
}


def exact_of(rows, question, unit, budget):
    frame = pd.DataFrame(list(rows), columns=list(SCHEMA.names))
    door = PointRows(open_points(frame, schema=SCHEMA, unit=unit), rescale=True, noise=NoNoise())
    pairs, ask = ASKED[question]
    view = door.cut(Meter(plenty_of(budget)), None, CUTS, pairs, GROUPS)
    with recorded_draws() as draws:
        ask(view, budget.whole)
    return draws[0]


@pytest.mark.parametrize("question", ASKED)
def test_one_row_more_changes_what_was_paid_for_and_no_more(question):
    budget = Budget(1)
    changes = []
    for row, other in product(POSSIBLE, POSSIBLE[::3]):
        before = exact_of([other], question, AddRemoveRow(), budget)
        after = exact_of([other, row], question, AddRemoveRow(), budget)
        change = after.exact - before.exact
        if question == "tree":
            changes.append(np.ptp(change))
            assert np.abs(change).max() <= 1
        else:
            assert set(np.unique(change)) <= {0, 1}
            changes.append(change.sum())
    mechanism = exact_of([POSSIBLE[0]], question, AddRemoveRow(), budget).mechanism
    turns = 2 if question == "tree" else 1
    assert max(changes) == mechanism.scale / turns


def test_codes_depend_on_the_row_alone():
    rows = CROWD.iloc[:300]
    order = np.random.default_rng(1).permutation(300)
    found = [
        exact_of(part.itertuples(index=False), "tables", AddRemoveRow(), Budget(1)).exact
        for part in (rows, rows.iloc[order], rows[:100], rows[100:])
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2] + found[3])
    assert found[0].sum() == 3 * 300


def test_a_value_on_an_edge_is_above_it_and_clipped_values_are_in_the_outermost_cells():
    frame = [(0.25, -5, "a", "e"), (0.6, 9001, "b", "e"), (7.0, 10**9, "c", "e")]
    view = exact_of(frame, "histograms", AddRemoveRow(), Budget(1))
    first, second, third = np.split(view.exact[:7], [2, 4])
    assert first.tolist() == [1, 2]  # 0.25 is in the middle cell
    assert second.tolist() == [2, 1]
    assert third.tolist() == [1, 0, 2]


def test_the_scores_of_a_tree_are_distances_less_handicaps():
    row = (0.3, 0, "a", "e")  # the codes 0, 0 and 0
    found = exact_of([row] * 3, "tree", AddRemoveRow(), Budget(1)).exact
    # The expected tables are rounded to ones, of four, six and six cells; three rows are in one.
    assert found.tolist() == [[5 - 9, 7 - 0, 7 - 12]]
