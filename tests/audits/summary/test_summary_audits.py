"""Audits by sampling of the questions that summaries and profiles ask.

What every question and every transcript can tell is known exactly (``test_kmeans_transcripts``,
``test_summary_transcripts``); the audits confirm it where the noise is really drawn.
"""

import numpy as np
import pytest

from privclust.audit.auditor import audit
from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget
from privclust.data.points.door import PointRows
from privclust.data.table.public import CellGroups, Cut
from privclust.opening.rows import open_points
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow
from support.audits import answers_at_once
from support.noise import HalvedNoise
from support.point_questions import ask, pair_for
from support.views import plenty_of, view_of

pytestmark = pytest.mark.audit

# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
BUDGETS = {"pure": Budget(1), "zcdp": Budget(2, 0.2)}
ASKED = [("grouped counts", "pure"), ("grouped offsets", "zcdp"), ("histograms", "pure")]


def audit_question(question, currency, noise):
    budget, unit = BUDGETS[currency], AddRemoveRow()

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        view = view_of(data, unit=unit, budget=plenty_of(budget), noise=noise(bits))
        (found,) = answers_at_once(lambda: ask(view, question, budget.whole), runs)
        return found.reshape(runs, -1)

    pair = pair_for(unit, question)
    return audit(answers, pair, budget, runs=1500, batch=True, random_state=0)


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize(("question", "currency"), ASKED)
def test_a_question_is_refuted_only_if_its_noise_is_halved(question, currency, noise):
    report = audit_question(question, currency, noise)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
    assert report.epsilon_lower > 0.2


# Tables of synthetic rows: two cuts and the groups of three points, of a crowd and one more row.
CUTS = [
    Cut(0, np.array([0.0]), np.array([0, 1])),
    Cut(1, np.array([-0.5, 0.5]), np.array([0, 1, 0])),
]
GROUPS = [CellGroups(np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]), np.array([0, 1, 1]))]
SQUARE = Schema.from_bounds(-1, 1, names=["x", "y"])
CROWD = np.full((6, 2), -0.4)
ONE_MORE = NeighbourPair("one more", CROWD, np.append(CROWD, [[0.8, 0.0]], axis=0), AddRemoveRow())


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize("currency", BUDGETS)
def test_cut_tables_are_refuted_only_if_their_noise_is_halved(currency, noise):
    budget = BUDGETS[currency]

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        door = PointRows(open_points(data, schema=SQUARE, unit=AddRemoveRow()), noise=noise(bits))
        view = door.cut(Meter(plenty_of(budget)), None, CUTS, [(0, 2)], GROUPS)
        (found,) = answers_at_once(
            lambda: view.ask_pair_tables("tables", [(0, 2)], budget.whole), runs
        )
        return found.reshape(runs, -1)

    report = audit(answers, ONE_MORE, budget, runs=3000, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
    assert report.epsilon_lower > 0.2
