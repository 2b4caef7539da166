"""τ of whole rows: its estimate is not raised by the noise of the fit, where clusters blur."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.coclustering.association import tau
from privclust.coclustering.estimator import PrivateCoclustering
from privclust.coclustering.plan import synthetic_counts

MADE = synthetic_counts((600, 400), 3, 3, 60, seed=0)


def exact_tau(model):
    """Return τ of the exact blocks that the model's own clusters make of the matrix."""
    totals = MADE.counts @ np.eye(3)[model.column_labels_]
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
    return tau(np.eye(3)[model.predict(MADE.counts)].T @ shares)


def fits(epsilon, count):
    for seed in range(count):
        model = PrivateCoclustering(
            3, 3, epsilon=epsilon, delta=1e-6, unit="row", random_state=seed
        )
        yield model.fit(MADE.counts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("epsilon", [1.5, 8])
def test_released_tau_is_the_exact_one_on_average(epsilon):
    pairs = np.array([(model.tau_, exact_tau(model)) for model in fits(epsilon, 10)])
    assert pairs[:, 0].mean() == pytest.approx(pairs[:, 1].mean(), abs=0.03)


@pytest.mark.filterwarnings("ignore")
def test_totals_added_up_from_the_last_sums_would_be_far_off():
    # What the question of its own is for: the columns were grouped by the noise of these sums.
    for model in fits(1.5, 3):
        added = model.row_profiles_ @ np.eye(3)[model.column_labels_]
        assert tau(added) > exact_tau(model) + 0.1
