"""Audits of whole co-clusterings by sampling: full noise is not refuted, halved noise is found.

What all answers can tell is known exactly for every method and unit (``test_matrix_transcripts``);
one method confirms it in each currency. The statistic is the evidence of a transcript, which is
the best there is.
"""

from __future__ import annotations

import numpy as np
import pytest

from privclust.audit import audit
from privclust.budget import Budget
from support.matrix_runs import RUNS
from support.noise import seeded_noise

# Full noise must only not be refuted; these many runs show halved noise well beyond the claim.
CASES = {"tables, count": (Budget("1.5"), 1_500), "row": (Budget(2, "0.1"), 2_400)}
FULL_RUNS = 1_000


def audited(name, *, halved):
    budget, runs = CASES[name]
    noise, rng = seeded_noise(20, halved=halved), np.random.default_rng(0)

    def evidence(side, runs):
        found = [RUNS[name].transcript(side, budget, noise, rng).evidence for _ in range(runs)]
        return np.round(found, 6)

    runs = runs if halved else FULL_RUNS
    return audit(
        evidence, (0, 1), budget, runs, 0.99, features="values", batch=True, random_state=0
    )


@pytest.mark.parametrize("name", CASES)
def test_full_noise_is_not_refuted(name):
    report = audited(name, halved=False)
    assert report.verdict == "not refuted"
    assert report.epsilon_lower > 0.1  # an audit that sees nothing could not fail


@pytest.mark.parametrize("name", CASES)
def test_halved_noise_is_found(name):
    assert audited(name, halved=True).verdict == "violated"
