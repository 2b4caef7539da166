"""The signal test: it warns of matrices without structure, and of no others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privclust.coclustering.estimator import PrivateCoclustering
from privclust.coclustering.groups import directions_above_noise
from privclust.coclustering.plan import synthetic_counts
from privclust.data.public import Noisy
from privclust.distributions import noise_like
from privclust.exceptions import LowSignalWarning

RUNS = 10  # of which one may be mistaken
FEWER = 8  # of which none may


def warned(matrices, n_clusters, **parameters):
    times = 0
    for seed, matrix in enumerate(matrices):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            PrivateCoclustering(n_clusters, n_clusters, random_state=seed, **parameters).fit(matrix)
        times += any(entry.category is LowSignalWarning for entry in caught)
    return times


# At ε = 10 counts vary more than the noise, and groups fit what chance put there.
@pytest.mark.parametrize(("epsilon", "n_clusters"), [(0.01, 2), (0.1, 5), (1, 2), (10, 5), (10, 2)])
def test_matrices_without_structure_are_reported(epsilon, n_clusters):
    matrices = [np.random.default_rng(seed).poisson(2, (120, 40)) for seed in range(RUNS)]
    assert warned(matrices, n_clusters, epsilon=epsilon) >= RUNS - 1


def test_unequal_rows_and_columns_are_no_structure():
    rng = np.random.default_rng(0)
    rates = np.outer(rng.gamma(2, 1, 500), 100 / np.arange(1, 201)) / 5
    matrices = [np.random.default_rng(seed).poisson(rates) for seed in range(FEWER)]
    assert warned(matrices, 3, epsilon=1) == FEWER
    assert warned(matrices, 3, epsilon=1, unit="entry") == FEWER


@pytest.mark.parametrize("epsilon", [0.5, 1, 10])
def test_planted_blocks_are_not_taken_for_noise(epsilon):
    planted = [synthetic_counts((400, 200), 3, 3, 150, seed).counts for seed in range(FEWER)]
    assert warned(planted, 3, epsilon=epsilon) == 0


@pytest.mark.parametrize("shape", [(60, 5), (120, 12), (30, 60), (2000, 3)])
@pytest.mark.parametrize("currency", ["pure", "zcdp"])
def test_noise_alone_has_no_direction(shape, currency):
    rng = np.random.default_rng(0)
    tables = [Noisy(noise_like(currency, 140, shape, rng), 140) for _ in range(20)]
    found = [directions_above_noise(table, table, currency, rng) for table in tables]
    assert sum(count > 0 for count in found) <= 2


def test_made_up_noise_has_the_tails_of_its_currency():
    rng = np.random.default_rng(0)
    laplace, gaussian = (noise_like(c, 3.0, (200, 500), rng) for c in ("pure", "zcdp"))
    assert laplace.std() == pytest.approx(3, rel=0.02)
    assert gaussian.std() == pytest.approx(3, rel=0.02)
    assert (np.abs(laplace) > 12).mean() > 0.002 > (np.abs(gaussian) > 12).mean()


def test_two_kinds_of_rows_are_one_direction():
    rng = np.random.default_rng(0)
    kinds = np.kron([[60, 0, 30], [0, 60, 30]], np.ones((200, 1)))
    table = Noisy(rng.poisson(kinds) + rng.laplace(0, 10, kinds.shape), 10 * np.sqrt(2))
    assert directions_above_noise(table, table, "pure", rng) == 1


def row_model(epsilon):
    return PrivateCoclustering(3, 3, epsilon=epsilon, delta=1e-6, unit="row", random_state=0)


def test_too_few_rows_per_cluster_are_told_when_rows_are_protected():
    few = synthetic_counts((90, 200), 3, 3, 100, seed=0).counts
    with pytest.warns(LowSignalWarning, match="Only 0 of the 2 .* too few rows per cluster"):
        row_model(1).fit(few)
    assert "too small" in row_model(1).plan(90, 200, row_total=100).advice


def test_enough_rows_per_cluster_raise_no_warning_when_rows_are_protected():
    many = synthetic_counts((6000, 200), 3, 3, 100, seed=0).counts
    assert row_model(2).fit(many).n_directions_ == 2
    assert "is enough" in row_model(2).plan(6000, 200, row_total=100).advice


@pytest.mark.parametrize("seed", range(4))
def test_no_cluster_of_protected_rows_stays_empty(seed):
    made = synthetic_counts((8000, 200), 4, 4, 100, seed=3)
    model = PrivateCoclustering(4, 4, epsilon=2, delta=1e-6, unit="row", random_state=seed)
    assert np.bincount(model.fit_predict(made.counts), minlength=4).min() > 1000
