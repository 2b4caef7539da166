"""What all answers of private bounds can tell neighbours apart by: what was paid, and no more."""

import numpy as np
import pandas as pd
import pytest

from privclust.bounds.find import ask_bounds
from privclust.budget import Budget
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.noise import seeded_noise
from support.number_views import numbers_of
from support.transcripts import Transcript, amount_lost
from support.views import plenty_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 2)]
CROWD = np.random.default_rng(0).uniform(3, 4, (2000, 2))


def pair_for(unit):
    """Return a crowd, and the same with a number beyond all others."""
    far = np.array([[1e300, -7.0]])
    if isinstance(unit, ReplaceRow):
        return np.append(CROWD, -far, axis=0), np.append(CROWD, far, axis=0)
    if isinstance(unit, AddRemoveRow):
        return CROWD, np.append(CROWD, far, axis=0)
    rows = pd.DataFrame(np.concatenate([CROWD, far, far]), columns=["a", "b"])
    rows["who"] = [*(f"{i}" for i in range(len(CROWD))), "far", "far"]
    return rows[: len(CROWD)], rows


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_bounds_cost_their_budget_and_more_if_noise_is_halved(currency, unit, halved):
    budget = BUDGETS[currency]
    noise, plenty = seeded_noise(0, halved=halved), plenty_of(budget)
    views = [numbers_of(rows, unit, budget=plenty, noise=noise) for rows in pair_for(unit)]
    transcript = Transcript(views)
    ask_bounds(transcript, budget.whole, 0.01)
    cost = amount_lost(transcript.cost, currency)
    lost = amount_lost(transcript.loss, currency)
    assert lost <= cost
    assert (cost > budget.amount) == halved
    # All that a replaced row does not change is the number of rows.
    count = budget.amount / 10 * (4 if currency == "zcdp" else 2) ** halved
    assert lost >= cost - count
    assert len(transcript.draws) == 3
    if not halved:
        assert cost == budget.amount
