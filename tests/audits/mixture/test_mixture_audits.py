"""Audits by sampling of what a mixture asks.

What every question and every transcript can tell is known exactly (``test_kmeans_transcripts``,
``test_mixture_transcripts``); the audits confirm it where the noise is really drawn.
"""

import pytest

from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.unit.rows import AddRemoveRow
from support.audits import answers_at_once
from support.noise import HalvedNoise
from support.point_questions import ask, pair_for
from support.views import plenty_of, view_of

pytestmark = pytest.mark.audit

# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
BUDGETS = {"pure": Budget(1), "zcdp": Budget(2, 0.2)}


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize("currency", BUDGETS)
def test_the_lines_of_components_are_refuted_only_if_their_noise_is_halved(currency, noise):
    budget, unit = BUDGETS[currency], AddRemoveRow()

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        view = view_of(data, unit=unit, budget=plenty_of(budget), noise=noise(bits))
        (found,) = answers_at_once(lambda: ask(view, "components", budget.whole), runs)
        return found.reshape(runs, -1)

    pair = pair_for(unit, "components")
    report = audit(answers, pair, budget, runs=3000, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
    assert report.epsilon_lower > 0.2
