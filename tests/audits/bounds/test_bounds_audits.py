"""Audits of private bounds by sampling: the question, and the model as a user sees it."""

import numpy as np
import pytest

from privclust import PrivateBounds
from privclust.audit.auditor import audit
from privclust.audit.neighbours import duplicate_mass
from privclust.budget import Budget
from privclust.data.numbers.view import NumberRows
from privclust.opening.rows import open_numbers
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from support.audits import answers_at_once, quick_audit
from support.noise import HalvedNoise
from support.transcripts import replaced_draws
from support.views import plenty_of

pytestmark = pytest.mark.audit

# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
BUDGETS = {"pure": Budget(1), "zcdp": Budget(2, 0.2)}
PAIR = (np.full((30, 1), 3.0), np.array([[3.0]] * 30 + [[1e300]]))
EDGES = {0: np.array([0.0, 10.0])}


def audit_question(currency, noise):
    budget = BUDGETS[currency]

    def answers(data, runs, rng):
        source = noise(SeededBits(int(rng.integers(2**62))))
        view = NumberRows(open_numbers(data), noise=source).private(Meter(plenty_of(budget)), None)
        (found,) = answers_at_once(lambda: view.ask_histograms("q", EDGES, budget.whole), runs)
        return found.reshape(runs, -1)

    return audit(answers, PAIR, budget, runs=800, batch=True, random_state=0)


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize("currency", BUDGETS)
def test_the_question_is_refuted_only_if_noise_is_halved(currency, noise):
    report = audit_question(currency, noise)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
    assert report.epsilon_lower > 0.2


def audited_model():
    model = PrivateBounds(1, unreadable="missing", random_state=0)
    pair = duplicate_mass([3.0], [1e9], copies=30)
    return quick_audit(model, pair, Budget(1), runs=60)


def test_no_fitted_model_is_refuted():
    assert audited_model().verdict == "not refuted"


def test_a_fitted_model_is_refuted_if_there_is_no_noise():
    with replaced_draws(lambda original, mechanism, exact, noise: exact):
        assert audited_model().verdict == "violated"
