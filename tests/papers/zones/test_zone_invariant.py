"""The convergence invariant of the paper's Lemma 1 holds at every iteration, on what is released.

The sampled centre lies nearer to the private Lloyd point than the centre before did, so the private
cost of each cluster falls; and where the noise is small beside the step, so does the exact cost.
"""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privclust.budget import Budget
from privclust.papers.zones import private as module
from privclust.papers.zones.private import ZoneMoves
from support.zone_runs import steps_of


def broken(step):
    """Return which clusters moved to a point no nearer to the Lloyd point than they were."""
    was = np.linalg.norm(step.before - step.lloyd, axis=1)
    now = np.linalg.norm(step.after - step.lloyd, axis=1)
    return np.where(was > 0, now >= was, now > 0)


BUDGETS = st.sampled_from(
    [Budget(0.1), Budget(2), Budget(1000), Budget(0.5, 1e-6), Budget(50, 0.1)]
)


@settings(derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    budget=BUDGETS,
    n_rows=st.integers(1, 60),
    dimension=st.integers(1, 6),
    n_clusters=st.integers(1, 5),
    n_candidates=st.integers(1, 5),
)
def test_every_pick_lies_nearer_to_the_private_lloyd_point(
    seed, budget, n_rows, dimension, n_clusters, n_candidates
):
    rows = np.random.default_rng(seed).uniform(-1, 1, (n_rows, dimension))
    view, steps = steps_of(rows, budget, n_clusters, ZoneMoves(n_candidates), seed)
    low, high = view.domain.box_in_unit_ball()
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        assert not broken(step).any()
        assert ((low <= step.after) & (step.after <= high)).all()
        assert following is None or following.before is step.after


def test_candidates_beyond_the_zone_would_be_noticed():
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 3))
    with patch.object(module, "_REACH", 1.5):
        found = [
            broken(step).any()
            for step in steps_of(rows, Budget(2), 3, ZoneMoves(4), 0, n_steps=10)[1]
        ]
    assert any(found)


def cluster_costs(rows, centres, labels):
    return np.bincount(labels, ((rows - centres[labels]) ** 2).sum(axis=1), len(centres))


@pytest.mark.parametrize("seed", range(5))
def test_where_noise_is_small_beside_the_step_the_exact_cost_of_the_cluster_falls(seed):
    rng = np.random.default_rng(seed)
    data = np.clip(rng.choice([-0.6, 0.0, 0.6], (400, 2)) + rng.normal(0, 0.1, (400, 2)), -1, 1)
    view, steps = steps_of(data, Budget(200), 4, ZoneMoves(4), seed)
    rows, judged = view.domain.to_unit_ball(data), 0
    for step in steps:
        labels = ((rows[:, None] - step.before) ** 2).sum(axis=2).argmin(axis=1)
        for cluster in np.unique(labels):
            mean = rows[labels == cluster].mean(axis=0)
            radius = np.linalg.norm(step.before[cluster] - step.lloyd[cluster])
            # The condition of proofs/zones.md: the noise is below a quarter of the step.
            if np.linalg.norm(step.lloyd[cluster] - mean) < radius / 4:
                before, after = (
                    cluster_costs(rows, centres, labels)[cluster]
                    for centres in (step.before, step.after)
                )
                assert after < before
                judged += 1
    assert judged >= 4
