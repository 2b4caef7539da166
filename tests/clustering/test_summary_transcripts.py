"""What all answers of a summary can tell neighbours apart by: what was paid, and no more."""

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.clustering.auto import ask_with_chosen_k
from privclust.clustering.summarise import ask_summary
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.noise import seeded_noise
from support.transcripts import Transcript, amount_lost
from support.views import plenty_of, view_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
CROWD = np.random.default_rng(0).normal([-0.6, 0, 0], 0.1, (400, 3))
WIDE = np.random.default_rng(0).normal([-0.6] + [0] * 11, 0.1, (3000, 12))


def transcript_of(method, crowd, unit, budget, *, halved):
    """Return the transcript of a run on a crowd and on the same with a row far away."""
    far = np.ones((1, crowd.shape[1]))
    left = np.append(crowd, -far, axis=0) if isinstance(unit, ReplaceRow) else crowd
    pair = (left, np.append(crowd, far, axis=0))
    noise, plenty = seeded_noise(0, halved=halved), plenty_of(budget)
    transcript = Transcript([view_of(rows, unit=unit, budget=plenty, noise=noise) for rows in pair])
    method(transcript, budget.whole, np.random.default_rng(0))
    return transcript


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("crowd", [CROWD, WIDE], ids=["3 columns", "12 columns"])
@pytest.mark.parametrize("currency", BUDGETS)
def test_a_summary_costs_its_budget_and_more_if_noise_is_halved(currency, crowd, unit, halved):
    budget = BUDGETS[currency]
    transcript = transcript_of(ask_summary, crowd, unit, budget, halved=halved)
    cost = amount_lost(transcript.cost, currency)
    lost = amount_lost(transcript.loss, currency)
    assert lost <= cost
    # The far row reaches the sensitivity of nearly everything; one replaced in zCDP that of a half.
    assert lost >= cost / 2
    assert (cost > budget.amount) == halved
    assert halved or cost > 0.999 * budget.amount


@pytest.mark.parametrize("currency", BUDGETS)
def test_a_row_far_from_a_crowd_is_found_if_noise_is_halved(currency):
    budget = BUDGETS[currency]
    for halved in (False, True):
        run = transcript_of(ask_summary, CROWD, AddRemoveRow(), budget, halved=halved)
        assert (amount_lost(run.loss, currency) > budget.amount) == halved


def test_a_chosen_number_of_clusters_costs_its_budget():
    transcript = transcript_of(ask_with_chosen_k, WIDE, AddRemoveRow(), Budget(1), halved=False)
    assert amount_lost(transcript.loss, "pure") <= transcript.cost.pure <= 1


def test_wide_rows_are_asked_about_in_groups():
    """Else the tests above would not cover that question."""
    transcript = transcript_of(ask_summary, WIDE, AddRemoveRow(), Budget(1), halved=False)
    shapes = {draw.exact.shape for draw in transcript.draws}
    assert any(len(shape) == 2 and shape[1] == 12 and shape[0] > 1 for shape in shapes)
