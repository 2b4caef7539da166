"""``PrivateZoneKMeans`` passes its audits in both currencies, and fails them with noise halved.

The audits look at the whole transcript, every noisy count and sum, of which the release is a part.
The data are one row or two, so that the exact answers are known and with them how much each noisy
answer tells about the second row. The event is named before the runs, so that all of them count.
"""

from unittest.mock import patch

import numpy as np
import pytest
from zone_doubles import HalvedNoise, view_of

from privclust.audit import audit, far_outlier
from privclust.audit.bounds import epsilon_bound
from privclust.budget import Budget
from privclust.data.points.view import PointsView
from privclust.kmeans.zones import zoned
from privclust.published import PrivateZoneKMeans

# The claim, the evidence for the second row beyond which an output counts as a hit, and the runs
# on each side that suffice to tell halved noise.
CLAIMS = {"pure": (Budget(2), 1.35, 2500), "zcdp": (Budget(2, "0.1"), 0.9, 800)}
ONE_ROW, TWO_ROWS = np.array([[-1.0]]), np.array([[-1.0], [1.0]])


class Transcript(PointsView):
    """A view that keeps what each noisy count and sum tells about a second row, at +1."""

    def clusters(self, name, frame, centres, clip, **shares):
        answer = super().clusters(name, frame, centres, clip, **shares)
        # The first row, at -1, adds one to the count and this much to the sum.
        first_row = max(-1.0 - centres[0, 0], -clip)
        told = [(answer.counts.value[0] - 1, answer.counts.standard_error)]
        if "offsets" in shares:
            told += [(answer.offsets.value[0, 0] - first_row, answer.offsets.standard_error)]
        self.told = [*getattr(self, "told", []), *told]
        return answer


def evidence(told, currency):
    """Return the log-likelihood ratio of two rows against one, if the second adds one to all."""
    excess, errors = np.array(told).T
    if currency == "pure":
        return ((2 * np.clip(excess, 0, 1) - 1) * np.sqrt(2) / errors).sum()
    return ((excess - 0.5) / errors**2).sum()


def transcript(rows, budget, noise, seed):
    """Return what one run with one cluster tells, from a start at -1."""
    view = view_of(rows, budget=budget, noise=noise, seed=seed, kind=Transcript)
    with patch("privclust.kmeans.zones.packed_centres", lambda *_: np.array([[-1.0]])):
        zoned(view, budget.whole, 1, np.random.default_rng(seed), n_candidates=2, n_steps=1)
    return view.told


def audited_epsilon(currency, noise):
    budget, threshold, runs = CLAIMS[currency]
    hits = [
        sum(
            evidence(transcript(rows, budget, noise, seed), currency) > threshold
            for seed in range(first, first + runs)
        )
        for rows, first in ((ONE_ROW, 0), (TWO_ROWS, runs))
    ]
    return float(epsilon_bound(hits[1], hits[0], runs, 0.05, float(budget.delta)))


@pytest.mark.parametrize("currency", CLAIMS)
def test_the_whole_transcript_passes_its_audit(currency):
    assert 0.6 < audited_epsilon(currency, None) <= CLAIMS[currency][0].epsilon


@pytest.mark.parametrize("currency", CLAIMS)
def test_the_whole_transcript_fails_its_audit_with_noise_halved(currency):
    assert audited_epsilon(currency, HalvedNoise) > CLAIMS[currency][0].epsilon


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_estimator_is_not_refuted_where_a_published_algorithm_fails(delta):
    model = PrivateZoneKMeans(2, epsilon=0.5, delta=delta, bounds=(-1, 1), random_state=0)
    pair = far_outlier(np.linspace(-1, -0.98, 300)[:, None], [-1], [1])
    report = audit(model, pair, Budget(0.5, delta), 300, features="values", random_state=0)
    assert report.verdict == "not refuted"
