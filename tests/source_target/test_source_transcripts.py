"""Audits of everything that a whole fit is answered: every method, currency and unit.

What an estimator keeps of the answers is post-processing (``test_source_estimator`` shows it by
replay), so the strongest attacker weighs the answers themselves. The pairs attain the sensitivity;
at half the noise the same audit finds the flaw.
"""

from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from source_doubles import HalvedNoise, SourceTranscript, replaced_draws, view_of

from privclust.audit import audit
from privclust.budget import Budget
from privclust.data.sites.view import TargetSpace
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.source_target import rings as ours
from privclust.source_target.nas import nas
from privclust.source_target.nna import nna
from privclust.source_target.placement import CoordinateCells
from privclust.unit import AddRemoveRow, Person, ReplaceRow

LINE = np.array([[0.0], [0.5], [1.0]])
SPACE = TargetSpace(LINE)
CELLS = CoordinateCells(SPACE)
# With such a δ few runs can refute the claim if the noise is halved.
CURRENCIES = {"pure": Budget(1), "zcdp": Budget(1, 0.2)}
CLAIMS = [
    ("add-remove", "pure"), ("add-remove", "zcdp"), ("replace", "zcdp"), ("person", "pure"),
]  # fmt: skip
RUNS = {"nna": 1_200}  # of counts and sums, both must be extreme to tell
UNITS = {"add-remove": AddRemoveRow(), "replace": ReplaceRow(), "person": Person("who", 2)}


class LastAnswerError(Exception):
    """All questions of a fit are answered; what follows does not matter here."""


def run_rings(view, share, rng):
    with suppress(LastAnswerError), patch.object(ours, "_posteriors", side_effect=LastAnswerError):
        ours.rings(view, share, CELLS, rng)


def run_nna(view, share, rng):
    nna(view, share, 0.1)


def run_nas(view, share, rng):
    nas(view, share, 1.98, view._unit.rows_changed)  # at this reach one site serves all


METHODS = {"rings": run_rings, "nna": run_nna, "nas": run_nas}


def pair_of(method, unit):
    """Return neighbours between which every question changes as much as it ever can."""
    near, far = [0.01], [1.0]
    left, right = {
        "add-remove": ([far], [far, near]),
        "replace": ([far], [near]),
        "person": ([far, far], [far, far, near, near]),
    }[unit]
    if method != "nas" and unit != "replace":
        left, right = [], right[len(left) :]
    tables = [np.array(rows, float).reshape(-1, 1) for rows in (left, right)]
    if unit != "person":
        return tables
    old = len(left)
    return [
        pd.DataFrame(table, columns=["x0"]).assign(who=[int(i >= old) for i in range(len(table))])
        for table in tables
    ]


def evidence(method, unit, budget, noise):
    """Return a mechanism for the auditor: the weight of all answers of each of many fits."""
    noises = noise(SeededBits(7))
    views = [
        view_of(rows, budget, unit=UNITS[unit], space=SPACE, noise=noises)[0]
        for rows in pair_of(method, unit)
    ]

    def run(side, runs):
        weights, rng = np.empty(runs), np.random.default_rng(0)
        with replaced_draws(SourceTranscript.draw):
            for index in range(runs):
                for view in views:
                    view._meter = Meter(budget)
                transcript = SourceTranscript(views, side)
                METHODS[method](transcript, budget.whole, rng)
                weights[index] = transcript.evidence
        return weights

    return run


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize(("unit", "currency"), CLAIMS)
@pytest.mark.parametrize("method", METHODS)
def test_all_answers_together_keep_the_promise_and_half_the_noise_is_found(
    method, unit, currency, noise
):
    budget = CURRENCIES[currency]
    report = audit(
        evidence(method, unit, budget, noise), (0, 1), budget, RUNS.get(method, 500),
        features="values", batch=True, random_state=0,
    )  # fmt: skip
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
