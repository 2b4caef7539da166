"""What all answers of a co-clustering can tell neighbours apart by, exactly: at most what was paid.

Every method, unit and currency, on the neighbours that differ most; with noise or sensitivities
halved the same sum exceeds the budget.
"""

from __future__ import annotations

import numpy as np
import pytest

from privclust.budget import Budget
from support.matrix_runs import RUNS
from support.noise import halved_sensitivities, seeded_noise
from support.transcripts import amount_lost

BUDGETS = {"pure": Budget("1.5"), "zcdp": Budget(2, 1e-6)}
CASES = [(name, currency) for name in RUNS for currency in BUDGETS]
CASES.remove(("row", "pure"))  # is not offered


def largest_loss(name, currency, *, halved=False):
    """Return the largest loss of a few transcripts, as a share of the budget."""
    budget = BUDGETS[currency]
    losses = []
    for seed in range(4):
        noise, rng = seeded_noise(seed, halved=halved), np.random.default_rng(seed)
        transcript = RUNS[name].transcript(seed % 2, budget, noise, rng)
        losses.append(amount_lost(transcript.loss, currency) / budget.amount)
    return max(losses)


@pytest.mark.parametrize(("name", "currency"), CASES)
def test_all_answers_together_lose_at_most_the_budget(name, currency):
    # All of it, exactly; but for rows, whose length is rounded down.
    assert 0.999 < largest_loss(name, currency) <= 1


@pytest.mark.parametrize(("name", "currency"), CASES)
def test_halved_noise_is_found(name, currency):
    assert largest_loss(name, currency, halved=True) > 1


@pytest.mark.parametrize(("name", "currency"), CASES)
def test_halved_sensitivities_are_found(name, currency):
    with halved_sensitivities():
        assert largest_loss(name, currency) > 1
