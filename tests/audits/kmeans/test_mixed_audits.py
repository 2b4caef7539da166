"""Audits of questions about mixed rows by sampling: halved noise is found, true noise is not."""

import numpy as np
import pandas as pd
import pytest

from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.data.points.public import Projection
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from support.audits import answers_at_once
from support.noise import HalvedNoise
from support.views import plenty_of, view_of

SCHEMA = Schema({"x": Box(0, 1), "a": Categories(["p", "q"], missing="omit")})
ROWS = pd.DataFrame({"x": [0.5, 0.4], "a": ["p", None]})
PAIR = (ROWS, pd.concat([ROWS, pd.DataFrame({"x": [1.0], "a": ["q"]})]))
# A large δ: at a tiny one, the chance of what a halved Gaussian noise would betray is tiny as well.
QUESTIONS = {"counts": Budget(1), "offsets": Budget(2, 0.2)}


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_audit_of_mixed_rows_finds_halved_noise_alone(question, noise):
    budget = QUESTIONS[question]

    def answers(data, runs, rng):
        source = noise(SeededBits(int(rng.integers(2**62))))
        view = view_of(data, SCHEMA, budget=plenty_of(budget), noise=source, rescale=True)
        frame, centre = Projection(np.zeros(3)), np.zeros((1, 3))
        (found,) = answers_at_once(
            lambda: view.ask_clusters("q", frame, centre, 0.5, **{question: budget.whole}), runs
        )
        return found.reshape(runs, -1)

    report = audit(answers, PAIR, budget, runs=1000, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
