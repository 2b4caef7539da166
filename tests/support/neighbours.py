"""Neighbours: what a fit may tell about two data sets that differ in one unit.

The exact integers that mechanisms are given are compared with the sensitivity that the mechanisms
were made for, which is decisive; then the project's own auditor may look at them.
"""

from __future__ import annotations

import warnings

import numpy as np

from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.privacy.noise.exact import ExactNoise
from support.transcripts import allowed_change, change, recorded_draws, replayed_draws

RUNS = 300


def noisy(draw, runs):
    """Answer the question anew, with private noise."""
    noise = ExactNoise()
    return np.array([np.ravel(draw.mechanism.draw(draw.exact, noise)) for _ in range(runs)])


def check(model, pair):
    """Compare the exact answers about two neighbours with the sensitivities claimed.

    The second fit is given the noisy answers and the picks of the first, so that it asks the same.
    """
    model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with recorded_draws() as left:
            model.fit(pair[0])
        with replayed_draws([draw.answer for draw in left]) as right:
            model.fit(pair[1])
    for one, other in zip(left, right, strict=True):
        assert one.mechanism == other.mechanism
        assert change(one.mechanism, one.exact, other.exact) <= allowed_change(one.mechanism)
    return left[0], right[0]


def check_and_audit(model, pair):
    """Let the auditor look at the answers as well, at the whole budget of the fit."""
    sides, claimed = check(model, pair), Budget(model.epsilon, model.delta)
    assert audit(noisy, sides, claimed, RUNS, batch=True, random_state=0).verdict == "not refuted"
