"""Axes in pure ε and many columns: where second moments drown, rows are pulled towards directions.

A set of 5000 rows in 64 columns lies near a space of six dimensions.
"""

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.clustering import spread
from privclust.clustering.cells import ask_cells
from privclust.clustering.spread import Allowance, ask_axes, ask_spread
from privclust.privacy.mechanisms import BallLaplace
from support.noise import seeded_noise
from support.transcripts import Transcript
from support.views import plenty_of, view_of

N_ROWS, COLUMNS, CLUSTERS = 5000, 64, 10
RNG = np.random.default_rng(5)
SPACE = np.linalg.qr(RNG.standard_normal((COLUMNS, 6)))[0]
PLACES = RNG.standard_normal((CLUSTERS, 6))
ROWS = PLACES[np.arange(N_ROWS) % CLUSTERS] @ SPACE.T + 0.2 * RNG.standard_normal((N_ROWS, COLUMNS))
ROWS = np.clip(ROWS / 3, -1, 1)


def axes_at(epsilon, delta=0.0):
    """Return the axes of the rows, and what was paid for them, in parts of the budget."""
    budget = Budget(epsilon, delta)
    view = view_of(ROWS, budget=budget, noise=seeded_noise(1))
    purse = Allowance(budget.whole)
    seen = ask_spread(view, purse, float(N_ROWS))
    before = purse.remaining.amount
    found = ask_axes(view, purse, seen, CLUSTERS, np.random.default_rng(0))
    return found, float((before - purse.remaining.amount) / budget.amount)


def share_in_the_space(axes):
    """Return how much of the axes lies in the space of the rows, from 0 to 1."""
    return float(((SPACE.T @ axes.frame.axes) ** 2).sum() / axes.frame.axes.shape[1])


def test_directions_pull_axes_out_of_noise_that_drowns_moments():
    axes, paid = axes_at(2.0)
    assert 0.1 < paid <= 0.3
    assert share_in_the_space(axes) > 0.5  # of random axes, a tenth
    around = ROWS - ROWS.mean(axis=0)
    true = (around @ axes.frame.axes).var(axis=0) / (around**2).sum(axis=1).mean()
    told = axes.variances / axes.variances.sum() * true.sum()
    assert np.abs(np.log(told / true)).max() < 1


def test_axes_that_noise_would_hide_are_random_and_free():
    axes, paid = axes_at(0.2)
    assert paid == 0
    assert share_in_the_space(axes) < 0.3


@pytest.mark.parametrize("halved", [False, True])
def test_a_fit_by_pulled_axes_loses_its_budget_and_more_if_noise_is_halved(halved):
    budget, noise = Budget(2), seeded_noise(1, halved=halved)
    pair = ROWS, np.vstack([ROWS, np.ones(COLUMNS)])
    plenty = plenty_of(budget)
    transcript = Transcript([view_of(rows, budget=plenty, noise=noise) for rows in pair])
    ask_cells(transcript, budget.whole, CLUSTERS, np.random.default_rng(0))
    # Five axes by eleven directions; each sum of offsets is a line.
    pulled = [draw for draw in transcript.draws if draw.exact.shape == (11, COLUMNS)]
    assert [type(draw.mechanism) for draw in pulled] == [BallLaplace]
    assert transcript.loss.pure <= transcript.cost.pure
    assert (transcript.loss.pure > budget.epsilon) == halved
    assert halved or transcript.loss.pure > 0.9 * budget.epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(200.0, 0.0), (2.0, 1e-6)])
def test_second_moments_are_asked_where_they_show_more(epsilon, delta):
    axes, paid = axes_at(epsilon, delta)
    assert paid == pytest.approx(0.1)
    assert share_in_the_space(axes) > 0.5


def test_centres_are_better_for_it(monkeypatch):
    def inertia():
        fits = [
            PrivateKMeans(CLUSTERS, epsilon=2.0, bounds=(-1, 1), random_state=seed).fit(ROWS)
            for seed in range(3)
        ]
        return np.mean([-fit.score(ROWS) for fit in fits])

    now = inertia()
    monkeypatch.setattr(spread._Pull, "affordable_share", lambda *_: None)
    assert now < 0.9 * inertia()
