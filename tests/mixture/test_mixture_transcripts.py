"""What all answers of a mixture can tell neighbours apart by: what was paid, and no more.

Each question alone is in ``test_kmeans_transcripts.py``, with the others about points.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from privclust import PrivateGaussianMixture
from privclust.audit.neighbours import duplicate_mass, far_outlier
from privclust.budget import Budget
from privclust.mixture.ask_mixture import Wanted, ask_mixture
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.noise import halved_sensitivities, seeded_noise
from support.transcripts import (
    Transcript,
    amount_lost,
    loss_between,
    recorded_draws,
    replayed_draws,
)
from support.views import plenty_of, view_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
CROWD = np.random.default_rng(0).normal([-0.6, 0], 0.1, (400, 2))
KINDS = ["full", "tied", "diag", "spherical"]


def transcript_of(kind, unit, budget, *, halved, n_rows=400):
    """Return the transcript of a run on a crowd and on the same with a row far away."""
    far, crowd = np.ones((1, 2)), CROWD[:n_rows]
    left = np.append(crowd, -far, axis=0) if isinstance(unit, ReplaceRow) else crowd
    pair = (left, np.append(crowd, far, axis=0))
    noise, plenty = seeded_noise(0, halved=halved), plenty_of(budget)
    transcript = Transcript([view_of(rows, unit=unit, budget=plenty, noise=noise) for rows in pair])
    ask_mixture(transcript, budget.whole, Wanted(2, kind, 1e-7), np.random.default_rng(0))
    return transcript


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("currency", BUDGETS)
def test_a_mixture_costs_its_budget_and_more_if_noise_is_halved(currency, kind, unit, halved):
    budget = BUDGETS[currency]
    transcript = transcript_of(kind, unit, budget, halved=halved)
    cost = amount_lost(transcript.cost, currency)
    assert amount_lost(transcript.loss, currency) <= cost
    assert (cost > budget.amount) == halved
    assert halved or cost > 0.999 * budget.amount


@pytest.mark.parametrize("n_rows", [30, 400])
@pytest.mark.parametrize("currency", BUDGETS)
def test_a_row_far_from_a_crowd_is_found_if_noise_or_a_sensitivity_is_halved(currency, n_rows):
    """With few rows the start is that of k-means, with more it is a summary."""
    budget = BUDGETS[currency]
    for halved in (False, True):
        run = transcript_of("full", AddRemoveRow(), budget, halved=halved, n_rows=n_rows)
        assert (amount_lost(run.loss, currency) > budget.amount) == halved
    with halved_sensitivities():
        run = transcript_of("full", AddRemoveRow(), budget, halved=False, n_rows=n_rows)
    assert amount_lost(run.loss, currency) > budget.amount


@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow(), Person("who", 2)], ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_the_losses_of_a_whole_fit_add_up_to_at_most_the_budget(currency, unit):
    budget = BUDGETS[currency]
    model = PrivateGaussianMixture(
        2, unit=unit, random_state=0, bounds=(-1, 1), epsilon=budget.epsilon, delta=budget.delta
    )
    name = unit.name if isinstance(unit, ReplaceRow) else "add-remove-row"
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    losses = []
    for pair in (
        duplicate_mass(low, high, copies=30, unit=name),
        far_outlier(CROWD[:50], low, high, distance=1e6, unit=name),
    ):
        left, right = pair.left, pair.right
        if isinstance(unit, Person):  # who has more rows than count
            rows = np.concatenate([left, right[-1:].repeat(4, axis=0)])
            right = pd.DataFrame(rows, columns=["a", "b"])
            right["who"] = np.minimum(np.arange(len(right)), len(left))
            left = right[: len(left)]
        with recorded_draws() as draws:
            clone(model).fit(left)
        with replayed_draws([draw.answer for draw in draws]) as twins:
            clone(model).fit(right)
        losses.append(amount_lost(loss_between(draws, twins), currency))
    assert max(losses) <= budget.amount
    assert max(losses) >= budget.amount / 4
