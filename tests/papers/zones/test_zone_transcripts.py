"""What answers of k-means with zones tell neighbours apart by, exactly: at most what was paid."""

import numpy as np
import pytest

from privclust.budget import Budget
from support.noise import halved_sensitivities, seeded_noise
from support.transcripts import amount_lost
from support.zone_runs import RUNS, transcript_of, views_for

BUDGETS = {"pure": Budget(2), "zcdp": Budget(2, 1e-6)}
every_run = pytest.mark.parametrize(
    ("name", "currency"), [(name, currency) for name in RUNS for currency in BUDGETS]
)


def largest_loss(name, currency, *, halved=False):
    """Return the largest loss of a few runs, as a share of the budget."""
    budget = BUDGETS[currency]
    losses = []
    for seed in range(6):
        views = views_for(name, budget, seeded_noise(seed, halved=halved))
        transcript = transcript_of(name, views, seed % 2, budget, np.random.default_rng(seed))
        losses.append(amount_lost(transcript.loss, currency) / budget.amount)
    return float(max(losses))


@every_run
def test_all_answers_together_lose_at_most_the_budget(name, currency):
    # Losses are exact. A whole run pays 13.4 % for a choice whose scores these rows do not move.
    assert (
        {"choice": 0.999, "cells": 0.999, "whole run": 0.865}[name]
        < largest_loss(name, currency)
        <= 1
    )


@every_run
def test_halved_noise_is_found(name, currency):
    assert largest_loss(name, currency, halved=True) > 1


@every_run
def test_halved_sensitivities_are_found(name, currency):
    with halved_sensitivities():
        assert largest_loss(name, currency) > 1
