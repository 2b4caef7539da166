"""Audits of PrivateKMeans by sampling: one for each mechanism, and the model as a user sees it.

What every question and every transcript can tell is known exactly (``test_kmeans_transcripts``);
the audits confirm it where the noise is really drawn. The methods "cautious" and "grid" are
audited by their transcripts (``test_few_rows_audits``). A fitted model is computed from the
transcript and shows far less of what was paid for, so that halved noise cannot be seen in
it, but missing noise can. All noise is seeded by the auditor, so every test is decided.
"""

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.audit.auditor import audit
from privclust.audit.neighbours import duplicate_mass, single_row_cluster
from privclust.budget import Budget
from privclust.clustering.cells import ask_cells
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.unit.rows import AddRemoveRow
from support.audits import answers_at_once, evidence_bound, quick_audit
from support.noise import HalvedNoise
from support.point_questions import ask, pair_for
from support.transcripts import Transcript, replaced_draws
from support.views import plenty_of, view_of

METHODS = ["cells", "lloyd"]
# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
BUDGETS = {"pure": Budget(1), "zcdp": Budget(2, 0.2)}
LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


def skipping_the_empty(original, mechanism, exact, noise):
    """The planted flaw: what is exactly zero gets no noise."""
    return np.where(exact == 0, 0, original(mechanism, exact, noise))


# One question of the view


def audit_question(question, currency, noise=ExactNoise):
    budget, unit = BUDGETS[currency], AddRemoveRow()

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        view = view_of(data, unit=unit, budget=plenty_of(budget), noise=noise(bits))
        (found,) = answers_at_once(lambda: ask(view, question, budget.whole), runs)
        return found.reshape(runs, -1)

    pair = pair_for(unit, question)
    return audit(answers, pair, budget, runs=1500, batch=True, random_state=0)


MECHANISMS = {
    "discrete Laplace": ("count", "pure"),
    "ball Laplace": ("offsets", "pure"),
    "discrete Gaussian": ("offsets", "zcdp"),
}
every_mechanism = pytest.mark.parametrize(
    ("question", "currency"), MECHANISMS.values(), ids=MECHANISMS
)


@every_mechanism
def test_a_question_is_not_refuted(question, currency):
    report = audit_question(question, currency)
    assert report.verdict == "not refuted"
    assert report.epsilon_lower > 0.2


@every_mechanism
def test_halved_noise_of_a_question_is_found(question, currency):
    assert audit_question(question, currency, HalvedNoise).verdict == "violated"


@pytest.mark.parametrize("question", ["counts", "offsets"])
def test_an_empty_cluster_without_noise_is_found_in_a_question(question):
    with replaced_draws(skipping_the_empty):
        report = audit_question(question, "pure")
    assert report.verdict == "violated"
    assert report.epsilon_lower > 3


# The transcript of a whole run

TRANSCRIPT_PAIR = (np.full((30, 1), -1.0), np.array([[-1.0]] * 30 + [[1.0]]))


def evidence_of(budget, noise):
    """Return a function of side and runs: the evidence of each run."""

    def evidence(side, runs):
        rng, source = np.random.default_rng(side), noise(SeededBits(side))
        views = [view_of(data, budget=plenty_of(budget), noise=source) for data in TRANSCRIPT_PAIR]
        found = []
        for _ in range(runs):
            transcript = Transcript(views, side)
            ask_cells(transcript, budget.whole, 1, rng)
            found.append(transcript.evidence)
        return np.array(found)

    return evidence


@pytest.mark.parametrize(("noise", "runs"), [(ExactNoise, 150), (HalvedNoise, 300)])
def test_transcripts_are_refuted_only_if_noise_is_halved(noise, runs):
    # In zCDP the losses of many answers add up to that of one Gaussian answer, so that all of them
    # together show as much; in pure ε the worst of all answers at once is too rare to be seen.
    # Beyond 0.6 evidence happens in 67 % of runs on the right and in 1 % on the left if noise is
    # halved, which is ε = 3.7; in 57 % and 16 %, which is ε = 0.8, if it is not.
    budget = BUDGETS["zcdp"]
    found = evidence_bound(evidence_of(budget, noise), budget, 0.6, runs)
    assert (found > budget.epsilon) == (noise is HalvedNoise)


# The fitted model


def audit_model(method, pair, *, delta=0, runs=60):
    model = PrivateKMeans(2, epsilon=1, delta=delta, bounds=(-1, 1), method=method, random_state=0)
    return quick_audit(model, pair, Budget(1, delta), runs=runs)


MASS, EMPTIED = duplicate_mass(LOW, HIGH, copies=30), single_row_cluster([LOW, HIGH], copies=200)


@pytest.mark.parametrize(
    ("method", "pair", "delta"),
    [("cells", MASS, 0), ("lloyd", MASS, 1e-6), ("cells", EMPTIED, 1e-6), ("lloyd", EMPTIED, 0)],
)
def test_no_fitted_model_is_refuted(method, pair, delta):
    assert audit_model(method, pair, delta=delta).verdict == "not refuted"


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_model_is_refuted_if_an_empty_cluster_gets_no_noise(method):
    with replaced_draws(skipping_the_empty):
        report = audit_model(method, EMPTIED, runs=120)
    assert report.verdict == "violated"


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_model_is_refuted_if_there_is_no_noise(method):
    with replaced_draws(lambda original, mechanism, exact, noise: exact):
        report = audit_model(method, MASS)
    assert report.verdict == "violated"
