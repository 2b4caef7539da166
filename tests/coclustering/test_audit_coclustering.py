"""Audits of every co-clustering method and unit: full noise is not refuted, halved noise is found.

A run is a whole fit on a tiny matrix, seen with all its answers; the statistic is the evidence that
a transcript adds up, which is the best there is.
"""

from __future__ import annotations

import numpy as np
import pytest
from transcripts import MatrixTranscript, ProfilesTranscript, as_counts, noise_of

from privclust.audit import audit
from privclust.budget import Budget
from privclust.coclustering import tables as module_of_tables
from privclust.coclustering.profiles import rows_method
from privclust.coclustering.tables import tables_method
from privclust.coclustering.tau import tau_method
from privclust.unit import MatrixCount, MatrixEntry, MatrixRow


def one_round(*arguments):
    """Pay for tables mostly: choices, audited on their own, give little away by themselves."""
    return tau_method(*arguments, n_rounds=1, choice=0.05)


def blocks(largest):
    matrix = np.kron(np.eye(2, dtype=int), np.full((3, 3), largest))
    matrix[0, 0] = 0
    return matrix


def with_entry(value):
    matrix = blocks(value)
    matrix[0, 0] = value
    return matrix


ROWS = np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))
COUNT, ENTRY = (blocks(1), with_entry(1)), (blocks(3), with_entry(3))
PURE, APPROXIMATE = Budget("1.5"), Budget(2, "0.1")
CASES = {
    "tables, count": (tables_method, MatrixCount(), PURE, COUNT),
    "tables, entry": (tables_method, MatrixEntry(3), PURE, ENTRY),
    "tau, count": (one_round, MatrixCount(), PURE, COUNT),
    "tau, entry": (one_round, MatrixEntry(3), PURE, ENTRY),
    "row": (rows_method, MatrixRow(), APPROXIMATE, (ROWS[:-1], ROWS)),
}
# Full noise must only not be refuted; these many runs show halved noise well beyond the claim.
FULL_RUNS = 1_500
HALVED_RUNS = {"tables, count": 1_500, "tau, count": 1_500, "row": 2_400}
ENTRY_RUNS = 3_000


@pytest.fixture(autouse=True)
def one_start(monkeypatch):
    """Spare the restarts of k-means, which come after the noise and take most of the time."""
    monkeypatch.setattr(module_of_tables, "_STARTS", 1)
    monkeypatch.setattr(module_of_tables, "_LAST_STARTS", 1)


def evidence_of(method, unit, budget, noise):
    # Asked for many clusters, the table method makes do with three tables: more to see in each.
    n_clusters = 40 if method is tables_method else 2
    transcript = ProfilesTranscript if isinstance(unit, MatrixRow) else MatrixTranscript

    rng = np.random.default_rng(0)

    def run(data, runs):
        pair, side = [as_counts(matrix) for matrix in data[0]], data[1]
        found = np.empty(runs)
        for index in range(runs):
            view = transcript(pair, side, unit, budget, noise)
            method(view, budget.whole, n_clusters, 2, rng)
            found[index] = view.evidence
        return np.round(found, 6)

    return run


def audited(case, noise):
    method, unit, budget, pair = CASES[case]
    runs = FULL_RUNS if noise == "full" else HALVED_RUNS.get(case, ENTRY_RUNS)
    return audit(
        evidence_of(method, unit, budget, noise_of(noise)),
        ((pair, 0), (pair, 1)),
        budget,
        runs,
        0.99,
        features="values",
        batch=True,
        random_state=0,
    )


@pytest.mark.parametrize("case", CASES)
def test_full_noise_is_not_refuted(case):
    report = audited(case, "full")
    assert report.verdict == "not refuted"
    assert report.epsilon_lower > 0.1  # an audit that sees nothing could not fail


@pytest.mark.parametrize("case", CASES)
def test_halved_noise_is_found(case):
    assert audited(case, "halved").verdict == "violated"
