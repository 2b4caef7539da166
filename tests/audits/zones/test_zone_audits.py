"""``PrivateZoneKMeans`` passes its audits by sampling, and fails them with noise halved.

What answers can tell is known exactly (``test_zone_transcripts``); here the choice confirms it for
each mechanism that selects, and a whole run once. For that the event is named before the runs, so
that all of them count.
"""

import numpy as np
import pytest

from privclust.audit.auditor import audit
from privclust.audit.neighbours import far_outlier
from privclust.budget import Budget
from privclust.papers.zones.private import PrivateZoneKMeans
from support.audits import evidence_at_once, evidence_bound, quick_audit
from support.noise import seeded_noise
from support.zone_runs import RUNS, transcript_of, views_for

CLAIM = Budget(2, "0.1")


def views_at(name, budget, rng, halved):
    return views_for(name, budget, seeded_noise(int(rng.integers(2**62)), halved=halved))


def evidence_of_answers(name, budget, *, halved):
    def evidence(side, runs, rng):
        views, (ask, _) = views_at(name, budget, rng, halved), RUNS[name]
        found = evidence_at_once(lambda view: ask(view, budget.whole, rng), views, side, runs)
        return found.round(6)

    return evidence


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize(
    "budget", [Budget(1), Budget(1, 0.1)], ids=["permute-and-flip", "exponential"]
)
def test_a_choice_is_refuted_only_if_its_noise_is_halved(budget, halved):
    choice = evidence_of_answers("choice", budget, halved=halved)
    report = audit(choice, (0, 1), budget, 1500, batch=True, random_state=0)
    assert report.verdict == ("violated" if halved else "not refuted")
    assert report.epsilon_lower > 0.2


@pytest.mark.parametrize("halved", [False, True])
def test_counts_of_cells_are_refuted_only_if_their_noise_is_halved(halved):
    cells = evidence_of_answers("cells", Budget(1), halved=halved)
    report = audit(cells, (0, 1), Budget(1), 1500, batch=True, random_state=0)
    assert report.verdict == ("violated" if halved else "not refuted")


# Beyond 0.9 evidence happens in 27 % of runs on the right and in 0.3 % on the left if noise is
# halved, which is ε = 4; in 40 % and 8 %, which is ε = 1.3, if it is not.
@pytest.mark.parametrize(("halved", "runs"), [(False, 800), (True, 800)])
def test_a_whole_run_is_refuted_only_if_its_noise_is_halved(halved, runs):
    rng = np.random.default_rng(0)

    def whole_runs(side, runs):
        views = views_at("whole run", CLAIM, rng, halved)
        runs = (transcript_of("whole run", views, side, CLAIM, rng) for _ in range(runs))
        return np.array([run.evidence for run in runs])

    found = evidence_bound(whole_runs, CLAIM, 0.9, runs)
    assert found > 0.6  # an audit that sees nothing could not fail
    assert (found > CLAIM.epsilon) == halved


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_estimator_is_not_refuted_where_a_published_algorithm_fails(delta):
    model = PrivateZoneKMeans(2, epsilon=0.5, delta=delta, bounds=(-1, 1), random_state=0)
    pair = far_outlier(np.linspace(-1, -0.98, 300)[:, None], [-1], [1])
    report = quick_audit(model, pair, Budget(0.5, delta), 120, features="values")
    assert report.verdict == "not refuted"
