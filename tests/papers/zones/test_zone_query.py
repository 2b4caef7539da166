"""The private choice of a candidate per cluster: exact counts, sensitivity, and cost."""

import itertools
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privclust.budget import Budget
from privclust.data.papers.kernels import on_grid, zone_counts
from privclust.data.papers.public import Zones
from privclust.exceptions import BudgetExceededError
from privclust.privacy.mechanisms import Exponential
from privclust.unit.base import UnitStep
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.transcripts import recorded_draws
from support.views import papers_view_of as view_of
from support.zone_runs import BUDGETS, random_zones

UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 3)]
NAMES = ["x0", "x1"]


def counts_one_by_one(rows, zones):
    """Count as the definition says, in Python's integers."""

    def square(one, other):
        return sum((int(a) - int(b)) ** 2 for a, b in zip(one, other, strict=True))

    counts = np.zeros(zones.candidates.shape[:2], np.int64)
    for row in rows:
        cluster = min(range(len(zones.centres)), key=lambda i: square(row, zones.centres[i]))
        if square(row, zones.middles[cluster]) <= int(zones.radii[cluster]) ** 2:
            candidates = zones.candidates[cluster]
            nearest = min(range(len(candidates)), key=lambda j: square(row, candidates[j]))
            counts[cluster, nearest] += 1
    return counts


@settings(derandomize=True)
@given(seed=st.integers(0, 2**32), dimension=st.integers(1, 4), few=st.booleans())
def test_counts_are_those_of_the_definition(seed, dimension, few):
    rng = np.random.default_rng(seed)
    zones = on_grid(random_zones(rng, dimension))
    # On a grid of few points ties are common.
    rows = rng.integers(-2, 3, (40, dimension)) * (2**18 if few else 2**17 + 1)
    np.testing.assert_array_equal(
        zone_counts(rows.astype(float), zones), counts_one_by_one(rows, zones)
    )


def test_a_row_on_the_edge_of_its_zone_counts_and_one_beyond_does_not():
    half = np.full((1, 1), 0.5)
    zones = on_grid(Zones(half, half, np.array([0.25]), half[None]))
    rows = np.array([[2**19 + 2**18], [2**19 + 2**18 + 1]], float)
    assert zone_counts(rows, zones)[0, 0] == 1


def caught_scores(data, unit, zones, budget=BUDGETS["pure"], **source):
    """Return the mechanism and the exact scores that it was given."""
    with recorded_draws() as draws:
        view_of(data, unit=unit, budget=budget, **source).ask_choices("pick", zones, budget.whole)
    return draws[0].mechanism, draws[0].exact


def test_blocks_make_no_difference():
    rng = np.random.default_rng(0)
    rows, zones = rng.uniform(-1, 1, (500, 2)), random_zones(rng)
    whole, blocks = (
        caught_scores(rows, AddRemoveRow(), zones, block_rows=size)[1] for size in (500, 7)
    )
    assert whole.sum() > 50
    np.testing.assert_array_equal(whole, blocks)


def neighbours(unit, rng):
    """Return two data sets that are neighbours under the unit."""
    rows = rng.uniform(-1, 1, (8, 2))
    if isinstance(unit, Person):
        people = np.array([1] * 3 + [2] * 3 + [3] * 2)
        frame = pd.DataFrame(rows, columns=NAMES).assign(who=people)
        return frame, frame[frame["who"] != 2]
    other = rng.uniform(-1, 1, (1, 2))
    kept = rows if isinstance(unit, AddRemoveRow) else rows[:-1]
    return rows, np.concatenate([kept, other])


def range_used(unit, seed):
    """Return the ranges of the clusters' changes, added up, and what the mechanism allows."""
    rng = np.random.default_rng(seed)
    zones = random_zones(rng)
    (mechanism, one), (_, other) = (
        caught_scores(data, unit, zones) for data in neighbours(unit, rng)
    )
    changes = one - other
    return int((changes.max(axis=1) - changes.min(axis=1)).sum()), mechanism.score_range


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_all_clusters_together_change_by_the_range_of_the_unit_and_no_more(unit):
    found = [range_used(unit, seed) for seed in range(150)]
    assert all(used <= allowed for used, allowed in found)
    assert any(used == allowed for used, allowed in found)


def pick_probabilities(mechanism, scores):
    """Return the probability of each candidate of one cluster, from the definition."""
    flips = np.exp((scores - scores.max()) / float(mechanism.scale))
    if isinstance(mechanism, Exponential):
        return flips / flips.sum()
    orders = list(itertools.permutations(range(len(scores))))
    chances = np.zeros(len(scores))
    for order in orders:
        left = 1.0
        for candidate in order:
            chances[candidate] += left * flips[candidate] / len(orders)
            left *= 1 - flips[candidate]
    return chances


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_the_picks_of_all_clusters_cost_no_more_than_one_share(currency, unit):
    budget, largest = BUDGETS[currency], 0.0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        zones, pair = random_zones(rng), neighbours(unit, rng)
        joint = []
        for data in pair:
            mechanism, scores = caught_scores(data, unit, zones, budget)
            each = [pick_probabilities(mechanism, row) for row in scores]
            joint.append(np.einsum("i,j,k->ijk", *each).ravel())
        p, q = joint
        if currency == "pure":
            loss = float(abs(np.log(p / q)).max())
        else:
            loss = float(np.log(np.sum(p**2 / q)) / 2)  # Rényi divergence of order 2, over 2
        largest = max(largest, loss / float(budget.amount))
    assert 0.4 < largest <= 1 + 1e-9


def test_a_choice_is_debited_before_any_row_is_read():
    budget = Budget(1)
    view = view_of(np.zeros((3, 2)), budget=budget)
    zones = random_zones(np.random.default_rng(0))
    view.ask_choices("pick", zones, budget.whole.take(Fraction(3, 4)))
    assert view._meter.spent.pure == Fraction(3, 4)
    with patch.object(view, "_rows") as rows, pytest.raises(BudgetExceededError):
        view.ask_choices("again", zones, budget.whole.take(Fraction(1, 2)))
    assert not rows.sum.called


def test_a_range_that_ignored_the_unit_would_be_noticed():
    with patch.object(ReplaceRow, "one_step", UnitStep(1)):
        found = [range_used(ReplaceRow(), seed) for seed in range(60)]
    assert any(used > allowed for used, allowed in found)
