"""The audit does not refute the questions about sources, refutes them at half the noise, and finds
the flaw of the paper: a scale in which the source has a part.

Every released value is computed from answers of the view (see ``test_source_estimator``), so the
answers are what is watched. What they can tell is known exactly for every method, unit and currency
(``test_source_transcripts``); here one question of each mechanism and one method confirm it.
"""

import warnings

import numpy as np
import pytest

from privclust.audit.auditor import audit
from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget
from privclust.data.sites.public import TargetSpace
from privclust.exceptions import PrivclustWarning
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from source_target.source_doubles import TARGETS, ask, view_of
from source_target.source_runs import transcript_of, views_for
from support.audits import answers_at_once, evidence_bound, quick_audit
from support.noise import HalvedNoise, seeded_noise
from support.variants import medoids
from support.views import plenty_of

# Gaussian noise at half its size is told from full noise at moderate probabilities only if δ is
# not tiny; the claim of a test may be as weak as it needs to be.
CLAIMS = {"pure": (Budget(1), 3_000), "zcdp": (Budget(1, 0.05), 4_500)}
MECHANISMS = {
    "discrete Laplace": ("histogram", "pure"),
    "ball Laplace": ("cells", "pure"),
    "discrete Gaussian": ("histogram", "zcdp"),
    "distances": ("site", "pure"),
}
# The farthest that one source can move an answer: alone, or against all others.
PAIRS = {
    "histogram": (np.empty((0, 2)), np.zeros((1, 2))),
    "cells": (np.empty((0, 2)), np.zeros((1, 2))),
    "site": (np.empty((0, 2)), np.zeros((1, 2))),
}


def watched(question, budget, noise=ExactNoise):
    """Return a mechanism for the auditor, whose seed decides the test."""

    def release(rows, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        view, _ = view_of(rows, plenty_of(budget), targets=TARGETS, noise=noise(bits))
        found = answers_at_once(lambda: ask(view, question, budget.whole), runs)
        return np.concatenate([answers.reshape(runs, -1) for answers in found], axis=1)

    return release


@pytest.mark.parametrize(("question", "currency"), MECHANISMS.values(), ids=MECHANISMS)
def test_questions_are_not_refuted(question, currency):
    budget, runs = CLAIMS[currency]
    pair = NeighbourPair("one source more", *PAIRS[question])
    report = audit(watched(question, budget), pair, budget, runs // 3, batch=True, random_state=0)
    assert report.verdict == "not refuted"


@pytest.mark.parametrize(("question", "currency"), MECHANISMS.values(), ids=MECHANISMS)
def test_half_the_noise_is_found(question, currency):
    budget, runs = CLAIMS[currency]
    pair = NeighbourPair("one source more", *PAIRS[question])
    flawed = watched(question, budget, HalvedNoise)
    report = audit(flawed, pair, budget, runs, batch=True, random_state=0)
    assert report.verdict == "violated"


# Beyond 0.88 evidence happens in 61 % of fits on the right and in 8 % on the left if noise is
# halved, which is ε = 2; in 50 % and 18 %, which is the claim, if it is not.
@pytest.mark.parametrize(("halved", "runs"), [(False, 200), (True, 400)])
def test_a_whole_fit_is_refuted_only_if_its_noise_is_halved(halved, runs):
    budget = Budget(1)
    views = views_for("rings", "add-remove", budget, seeded_noise(7, halved=halved))

    def evidence(side, runs):
        rng = np.random.default_rng(0)
        fits = (transcript_of("rings", views, side, budget, rng) for _ in range(runs))
        return np.array([fit.evidence for fit in fits])

    assert (evidence_bound(evidence, budget, 0.88, runs) > budget.epsilon) == halved


TOWNS = np.array([[x, y] for x in range(5) for y in range(5)], float)
CROWD = np.full((30, 2), 2.0)
OUTLIER = NeighbourPair("a far source", CROWD, np.concatenate([CROWD, [[400.0, 400.0]]]))


def fitted(rows, rng, radius=None):
    model = medoids(2, epsilon=1, method="nna", bounds=(-500, 500))
    model.set_params(random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivclustWarning)
        if radius is None:
            return model.fit(TOWNS, source=rows)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(TargetSpace, "radius", radius)
            return model.fit(TOWNS, source=rows)


def outputs(model):
    return model.medoid_indices_, model.released_source_.positions[:1], model.cost_estimate_


def test_a_scale_by_the_largest_norm_of_the_source_is_found():
    """As published: all points are scaled by a maximum norm that includes the source's."""

    def flawed(rows, rng):
        return outputs(fitted(rows, rng, radius=float(np.linalg.norm(rows, axis=1).max())))

    report = quick_audit(flawed, OUTLIER, Budget(1), 150)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 2


def test_a_scale_by_the_targets_is_not_refuted():
    report = quick_audit(lambda rows, rng: outputs(fitted(rows, rng)), OUTLIER, Budget(1), 150)
    assert report.verdict == "not refuted"
