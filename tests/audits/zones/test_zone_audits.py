"""``PrivateZoneKMeans`` passes its audits by sampling, and fails them with noise halved.

What answers can tell is known exactly (``test_zone_transcripts``); here the choice confirms it for
each mechanism that selects, and a whole run once. For that the event is named before the runs, so
that all of them count.
"""

import numpy as np
import pytest

from privclust.audit import audit, far_outlier
from privclust.audit.bounds import epsilon_bound
from privclust.budget import Budget
from privclust.published import PrivateZoneKMeans
from support.noise import seeded_noise
from zones.zone_runs import transcript_of, views_for

# The claim, the evidence for the second row beyond which an output counts as a hit, and the runs
# on each side that suffice to tell halved noise.
CLAIM, THRESHOLD, RUNS = Budget(2, "0.1"), 0.9, 800


def evidence(name, side, budget, runs, rng, *, halved):
    views = views_for(name, budget, seeded_noise(int(rng.integers(2**62)), halved=halved))
    runs = (transcript_of(name, views, side, budget, rng) for _ in range(runs))
    return np.array([run.evidence for run in runs])


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize(
    "budget", [Budget(1), Budget(1, 0.1)], ids=["permute-and-flip", "exponential"]
)
def test_a_choice_is_refuted_only_if_its_noise_is_halved(budget, halved):
    def choice(side, runs, rng):
        return evidence("choice", side, budget, runs, rng, halved=halved).round(6)

    report = audit(choice, (0, 1), budget, 1500, batch=True, random_state=0)
    assert report.verdict == ("violated" if halved else "not refuted")
    assert report.epsilon_lower > 0.2


@pytest.mark.parametrize("halved", [False, True])
def test_a_whole_run_is_refuted_only_if_its_noise_is_halved(halved):
    rng = np.random.default_rng(0)
    hits = [
        int((evidence("whole run", side, CLAIM, RUNS, rng, halved=halved) > THRESHOLD).sum())
        for side in (0, 1)
    ]
    found = float(epsilon_bound(hits[1], hits[0], RUNS, 0.05, float(CLAIM.delta)))
    assert found > 0.6
    assert (found > CLAIM.epsilon) == halved


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_estimator_is_not_refuted_where_a_published_algorithm_fails(delta):
    model = PrivateZoneKMeans(2, epsilon=0.5, delta=delta, bounds=(-1, 1), random_state=0)
    pair = far_outlier(np.linspace(-1, -0.98, 300)[:, None], [-1], [1])
    report = audit(model, pair, Budget(0.5, delta), 300, features="values", random_state=0)
    assert report.verdict == "not refuted"
