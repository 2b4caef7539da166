"""The paper's example of what a co-clustering tells (Battaglia, Pensa 2025, Fig. 1)."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.coclustering.association import tau_weights
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.tau.published import TauCoclustering
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.unit.matrix import MatrixCount
from support.views import matrix_view_of

# Four customers, six products; in A' the third customer buys one unit of the third product.
A = np.array([[2, 3, 1, 0, 0, 0], [2, 2, 0, 0, 0, 1], [0, 0, 0, 2, 2, 3], [0, 0, 1, 0, 5, 2]])
A_PRIME = A + np.eye(4, 6, dtype=int) * (np.arange(4)[:, None] == 2)
T, T_PRIME = [[10, 1], [1, 14]], [[9, 2], [0, 16]]


def best_of_fast_tau(matrix):
    """Return the block totals of the start that ends with the largest τ, and its columns."""
    fits = [TauCoclustering(2, 2, random_state=seed).fit(matrix) for seed in range(20)]
    best = max(fits, key=lambda model: model.tau_)
    order = np.argsort(best.block_totals_[:, best.column_labels_[0]])[::-1]  # customer 1 first
    columns = [best.column_labels_[0], 1 - best.column_labels_[0]]
    return best.block_totals_[order][:, columns].tolist(), best.column_labels_ == columns[0]


def test_the_two_matrices_are_neighbours():
    assert np.abs(A_PRIME - A).sum() == 1
    assert A_PRIME[2, 2] == 1


def test_fast_tau_returns_the_two_tables_of_the_paper_and_so_tells_which_matrix_it_was():
    found, columns = best_of_fast_tau(A)
    assert found == T
    assert columns.tolist() == [True, True, True, False, False, False]
    found, columns = best_of_fast_tau(A_PRIME)
    assert found == T_PRIME
    assert columns.tolist() == [True, True, False, False, False, False]


def chance_of_third_column(matrix, epsilon):
    """Return how likely the third product stays with the first two, given the table T."""
    weights = tau_weights(np.array(T, float).T)[:, [0, 0, 1, 1]].T
    scores = matrix.T @ weights
    spread = (weights.max(axis=1) - weights.min(axis=1)).max()
    odds = np.exp(epsilon * (scores[2] - scores[2].max()) / spread)
    return odds[0] / odds.sum()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_private_choice_of_the_third_column_tells_them_apart_by_no_more_than_epsilon(epsilon):
    one, other = (chance_of_third_column(matrix, epsilon) for matrix in (A, A_PRIME))
    assert one > other
    assert np.log(one / other) <= epsilon + 1e-12
    assert np.log((1 - other) / (1 - one)) <= epsilon + 1e-12


def test_the_view_picks_the_third_column_with_that_chance():
    weights = tau_weights(np.array(T, float).T)[:, [0, 0, 1, 1]].T
    view = matrix_view_of(A, MatrixCount(), budget=Budget(10_000), noise=ExactNoise(SeededBits(1)))
    picks = [
        view.ask_column_choices("q", weights, Budget(1).whole).labels[2] == 0 for _ in range(2000)
    ]
    assert np.mean(picks) == pytest.approx(chance_of_third_column(A, 1.0), abs=0.04)


def test_the_private_tables_of_both_matrices_look_alike():
    tables = [
        PrivateTauCoclustering(2, 2, epsilon=1, n_rounds=4, random_state=seed).fit(matrix)
        for matrix in (A, A_PRIME)
        for seed in range(3)
    ]
    # The noise of one cell is tens of times what the matrices differ by.
    assert min(model.block_totals_error_.min() for model in tables) > 20
