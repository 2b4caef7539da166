"""What all answers about mixed tables can tell neighbours apart by: what was paid, and no more."""

import numpy as np
import pandas as pd
import pytest

from privclust.budget import Budget
from privclust.clustering.cells import ask_cells
from privclust.clustering.measuring import ask_working_range
from privclust.clustering.summarise import ask_summary
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.noise import seeded_noise
from support.transcripts import Transcript, amount_lost
from support.views import plenty_of, view_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
SCHEMA = Schema(
    {
        "x": Box(0, 1),
        "a": Categories(list("pqrs")),
        "b": Categories(list("uvw"), missing="omit"),
        "c": Categories(["no", "yes"], weight=2),
    }
)
FAR = (1.0, "s", "w", "yes")
OTHER = (0.0, "p", None, "no")
METHODS = {
    "k-means": lambda view, share, rng: ask_cells(view, share, 2, rng),
    "summary": ask_summary,
    "measured spreads": lambda view, share, rng: ask_working_range(view, share, SCHEMA, None),
}


def crowd():
    n_rows = 400
    rng = np.random.default_rng(0)
    rows = {
        "x": rng.normal(0.3, 0.1, n_rows),
        "a": rng.choice(list("pq"), n_rows),
        "b": rng.choice(np.array(["u", "v", None], object), n_rows),
        "c": "no",
    }
    return pd.DataFrame(rows)


def with_row(data, row):
    return pd.concat([data, pd.DataFrame([row], columns=list(data))], ignore_index=True)


def transcript_of(method, unit, budget, *, halved):
    """Return the transcript of a run on a crowd and on the same with a row far away."""
    left = with_row(crowd(), OTHER) if isinstance(unit, ReplaceRow) else crowd()
    noise, plenty = seeded_noise(0, halved=halved), plenty_of(budget)
    views = [
        view_of(data, SCHEMA, unit, budget=plenty, noise=noise, rescale=True)
        for data in (left, with_row(crowd(), FAR))
    ]
    transcript = Transcript(views)
    method(transcript, budget.whole, np.random.default_rng(0))
    return transcript


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("currency", BUDGETS)
def test_a_mixed_run_costs_its_budget_and_more_if_noise_is_halved(currency, method, unit, halved):
    budget = BUDGETS[currency]
    transcript = transcript_of(method, unit, budget, halved=halved)
    cost = amount_lost(transcript.cost, currency)
    lost = amount_lost(transcript.loss, currency)
    assert lost <= cost
    assert (cost > budget.amount) == halved
    if isinstance(unit, AddRemoveRow):
        assert (lost > budget.amount) == halved
