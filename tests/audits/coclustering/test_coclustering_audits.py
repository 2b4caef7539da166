"""An audit of a whole co-clustering by sampling: full noise is not refuted, halved noise is found.

What all answers can tell is known exactly for every method, unit and currency
(``test_matrix_transcripts``), and each mechanism is audited alone (``test_matrix_audits``); the
cheapest method confirms that they add up. The statistic is the evidence of a transcript, which is
the best there is.
"""

from __future__ import annotations

import numpy as np
import pytest

from privclust.audit import audit
from privclust.budget import Budget
from support.matrix_runs import RUNS
from support.noise import seeded_noise


# Full noise must only not be refuted; so many runs show halved noise well beyond the claim.
@pytest.mark.parametrize(("halved", "runs"), [(False, 600), (True, 1_500)])
def test_a_whole_run_is_refuted_only_if_its_noise_is_halved(halved, runs):
    budget, noise = Budget("1.5"), seeded_noise(20, halved=halved)
    rng = np.random.default_rng(0)

    def evidence(side, runs):
        fits = (RUNS["tau, count"].transcript(side, budget, noise, rng) for _ in range(runs))
        return np.round([fit.evidence for fit in fits], 6)

    report = audit(
        evidence, (0, 1), budget, runs, 0.99, features="values", batch=True, random_state=0
    )
    assert report.verdict == ("violated" if halved else "not refuted")
    assert report.epsilon_lower > 0.1  # an audit that sees nothing could not fail
