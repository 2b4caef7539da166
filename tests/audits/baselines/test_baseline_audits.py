"""The questions of the baselines pass their audits by sampling, and fail them with noise halved.

A question is asked once on each side of a pair, and what it hands to its mechanism is answered many
times. The event is named before the runs, so that all of them count.
"""

from __future__ import annotations

import numpy as np
import pytest

from privclust.audit.events import epsilon_bound
from privclust.budget import Budget
from privclust.data.papers.public import Critic
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from support.noise import seeded_noise
from support.transcripts import recorded_draws
from support.views import view_of

LINE = Projection(np.zeros(1), radius=1.0, coarse=True)
# A row at one end moves all scores of swaps, or the whole vector of sums, as far as a row can.
SIDES = [np.array([[-1.0]]), np.array([[-1.0], [1.0]])]
# Beyond which an answer counts as a hit, where the row moves answers from 0 to 1.
THRESHOLDS = {"pure": 1.75, "zcdp": 1.0}
RUNS = 20_000


def swapped(view, share):
    return view.ask_best_swap("q", LINE, np.array([[-1.0]]), np.array([[1.0]]), share)


def factors(view, share):
    return view.ask_factor_sums("q", np.array([[1.0]]), share)


def gradients(view, share):
    critic = Critic(np.array([[1.0]]), np.zeros(1), np.array([50.0]))
    return view.ask_critic_gradients("q", critic, 1.0, share)


def hits(ask, budget, halved):
    """Return how many of the answers on each side are hits."""
    asked = []
    for side in SIDES:
        with recorded_draws() as draws:
            ask(view_of(side, budget=budget, kind=PapersView), budget.whole)
        asked.append(draws[0])
    noise = seeded_noise(0, halved=halved)
    answers = [draw.mechanism.draw(draw.exact.repeat(RUNS, axis=0), noise) for draw in asked]
    if ask is swapped:
        return [int((answer > 0).sum()) for answer in answers]
    move = (asked[1].exact - asked[0].exact)[0] / 1.0
    along = [(answer - asked[0].exact) @ move / (move @ move) for answer in answers]
    return [int((answer > THRESHOLDS[budget.currency]).sum()) for answer in along]


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 0.1)], ids=["pure", "zcdp"])
@pytest.mark.parametrize("ask", [swapped, factors, gradients])
def test_a_question_of_a_baseline_is_refuted_only_if_its_noise_is_halved(ask, budget, halved):
    left, right = hits(ask, budget, halved)
    found = float(epsilon_bound(right, left, RUNS, 0.05, float(budget.delta)))
    assert found > 0.1
    assert (found > budget.epsilon) == halved
