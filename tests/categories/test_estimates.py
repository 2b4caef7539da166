"""What is made of noisy tables: doubt that adds what it should, strengths that are not biased."""

from __future__ import annotations

import numpy as np

from privclust.categories.learn import _chain_along_tree
from privclust.categories.metric import attribute_metric
from privclust.categories.pair_tables import typical_level
from privclust.categories.shrinkage import Estimate
from privclust.data.table.public import PairLayout

CHANCES = np.array([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]])


def estimate_of(variances, unlearned=0.0):
    """One table of three values by two, of 100 rows in each column."""
    layout = PairLayout((3, 2), ((0, 1),))
    counts = (100 * CHANCES).ravel()
    margins = np.array([*(100 * CHANCES).sum(axis=1), 100.0, 100.0])
    return Estimate(layout, 200.0, margins, counts, variances, np.array([unlearned]))


def distances(estimate):
    return attribute_metric(estimate, 0, (1,), ("y", "x"), ("a", "b", "c")).distances()


def test_doubt_adds_to_squared_distances_what_uncertain_columns_add_on_average():
    concentration = 4.0
    rng = np.random.default_rng(0)
    columns = [rng.dirichlet(concentration * column, 200_000) for column in CHANCES.T]
    gaps = [(column[:, :, None] - column[:, None, :]) ** 2 for column in columns]
    expected = np.mean(gaps, axis=(0, 1))
    variances = 100**2 * CHANCES * (1 - CHANCES) / (concentration + 1)
    found = distances(estimate_of(variances.ravel()))
    np.testing.assert_allclose(found**2, expected, rtol=0.02, atol=1e-9)


def test_exact_tables_leave_no_doubt():
    found = distances(estimate_of(np.zeros(6)))
    gaps = CHANCES[:, None, :] - CHANCES[None, :, :]
    np.testing.assert_allclose(found, np.sqrt((gaps**2).mean(axis=2)), atol=1e-9)


def test_what_noise_hides_sets_values_further_apart():
    known, hidden = distances(estimate_of(np.zeros(6))), distances(estimate_of(np.zeros(6), 1.0))
    above = np.triu_indices(3, 1)
    assert (hidden[above] > known[above]).all()


def test_the_usual_strength_is_not_drawn_to_zero_by_pairs_that_happen_to_look_weak():
    rng = np.random.default_rng(0)

    def doubt(strengths):
        return 0.2 * (0.5 + np.broadcast_to(strengths, (400, len(strengths))))

    truth = 0.2
    found = rng.normal(truth, doubt(np.array([truth]))[:, 0])
    assert abs(typical_level(found, doubt, default=0.08, least=0.02) - truth) < 0.03


def test_along_a_chain_the_doubts_of_the_edges_add_up():
    layout = PairLayout((2, 2, 2), ((0, 1), (1, 2)))
    margins, variances = np.full(6, 10.0), np.zeros(8)
    along = Estimate(layout, 20.0, margins, np.full(8, 5.0), variances, np.array([0.5, 0.2]))
    chained = _chain_along_tree(along)
    assert chained.layout.pairs == ((0, 1), (0, 2), (1, 2))
    np.testing.assert_allclose(chained.unlearned, [0.5, 1 - 0.5 * 0.8, 0.2])
