"""Audits of single questions about a matrix, thirty thousand runs each.

A matrix of many equal rows answers a question about rows once for each of them, independently: as
many runs in one call.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.privacy.meter import Meter
from privclust.unit.matrix import MatrixCount, MatrixEntry
from support.audits import answers_at_once
from support.noise import NOISES, seeded_noise
from support.views import plenty_of

RUNS = 30_000
COLUMNS = Groups(np.array([0, 0, 1]), 2)
WEIGHTS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
CAP = 4
PAIRS = {
    "count": (MatrixCount(), ([2, 4, 1], [3, 4, 1])),
    "entry": (MatrixEntry(CAP), ([0, 4, 1], [CAP, 4, 1])),
}


def asked(question, unit, budget, noise):
    def run(row, runs):
        counts = sparse.csr_array(np.tile(np.array(row, np.int64), (runs, 1)))
        return question(MatrixView(counts, unit, Meter(budget), noise), budget.whole)

    return run


def row_table(view, share):
    return view.ask_row_table("table", COLUMNS, share).value


def row_choices(view, share):
    return view.ask_row_choices("choice", WEIGHTS, share).labels


def column_choices(view, share):
    return view.ask_column_choices("choice", WEIGHTS[:, :2], share).labels


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "0.01")], ids=["pure", "zCDP"])
@pytest.mark.parametrize("question", [row_table, row_choices])
@pytest.mark.parametrize("unit", PAIRS)
@pytest.mark.parametrize("noise", NOISES)
def test_halved_noise_is_found_and_full_noise_is_not_refuted(noise, unit, question, budget):
    chosen, pair = PAIRS[unit]
    mechanism = asked(question, chosen, budget, seeded_noise(20, halved=noise == "halved"))
    report = audit(mechanism, pair, budget, RUNS, 0.999, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise == "halved" else "not refuted")


@pytest.mark.parametrize("noise", NOISES)
def test_choices_of_columns_are_as_private_as_those_of_rows(noise):
    source = seeded_noise(20, halved=noise == "halved")

    def run(column, runs):
        counts = sparse.csr_array(np.tile(np.array(column, np.int64)[:, None], (1, runs)))
        view = MatrixView(counts, MatrixCount(), Meter(Budget(1)), source)
        return column_choices(view, Budget(1).whole)

    report = audit(run, PAIRS["count"][1], 1, RUNS, 0.999, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise == "halved" else "not refuted")


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("question", ["profile_sums", "block_shares"])
def test_a_whole_row_hides_in_sums_over_rows(question, noise):
    source = seeded_noise(20, halved=noise == "halved")
    budget, prototypes = Budget(1, "0.01"), np.eye(2)
    given = (prototypes, Groups(np.arange(2), 2))[: 2 if question == "block_shares" else 1]

    def run(rows, runs):
        counts = sparse.csr_array(np.array(rows, np.int64).reshape(-1, 2))
        view = ProfilesView(counts, Meter(plenty_of(budget)), source)
        (found,) = answers_at_once(
            lambda: getattr(view, f"ask_{question}")("sums", *given, budget.whole), runs
        )
        return found[:, :, 0]

    pair = ([[5, 0], [0, 7]], [[5, 0], [0, 7], [1000, 0]])
    report = audit(run, pair, budget, 6_000, 0.99, features="values", batch=True, random_state=0)
    assert report.verdict == ("violated" if noise == "halved" else "not refuted")
