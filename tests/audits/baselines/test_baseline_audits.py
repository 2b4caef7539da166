"""The questions of the baselines pass their audits by sampling, and fail them with noise halved."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.audit import audit
from privclust.budget import Budget
from privclust.data.baselines.public import Critic
from privclust.data.baselines.view import BaselinesView
from privclust.data.points.public import Projection
from support.noise import seeded_noise
from support.views import plenty_of, view_of

LINE = Projection(np.zeros(1), radius=1.0, coarse=True)
# A row at one end moves all scores of swaps, or the whole vector of sums, as far as a row can.
SIDES = [np.array([[-1.0]]), np.array([[-1.0], [1.0]])]
BUDGETS = [Budget(1), Budget(1, 0.1)]


def views(budget, rng, halved):
    noise = seeded_noise(int(rng.integers(2**62)), halved=halved)
    rich = plenty_of(budget)
    return [view_of(side, budget=rich, noise=noise, kind=BaselinesView) for side in SIDES]


def swapped(view, budget):
    here, there = np.array([[-1.0]]), np.array([[1.0]])
    return float(view.best_swap("q", LINE, here, there, budget.whole) is not None)


def factors(view, budget):
    answer = view.factor_sums("q", np.array([[1.0]]), budget.whole)
    return float(answer.loadings[0, 0] + answer.products[0, 0])


def gradients(view, budget):
    critic = Critic(np.array([[1.0]]), np.zeros(1), np.array([50.0]))
    return float(view.critic_gradients("q", critic, 1.0, budget.whole).value[:2].sum())


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "zcdp"])
@pytest.mark.parametrize("ask", [swapped, factors, gradients])
def test_a_question_of_a_baseline_is_refuted_only_if_its_noise_is_halved(ask, budget, halved):
    def answers(side, runs, rng):
        view = views(budget, rng, halved)[side]
        return np.array([ask(view, budget) for _ in range(runs)]).round(3)

    report = audit(answers, (0, 1), budget, 1200, batch=True, random_state=0)
    assert report.verdict == ("violated" if halved else "not refuted")
    assert report.epsilon_lower > 0.1
