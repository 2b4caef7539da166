"""A grid of noisy counts: its cells, what is believed of them, and when it is chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privclust import PrivateKMeans
from privclust.clustering import grid

RNG = np.random.default_rng(0)


def clumps(n_rows=3000, n_clusters=10, dimension=2):
    centres = RNG.uniform(-0.8, 0.8, (n_clusters, dimension))
    rows = centres[np.arange(n_rows) % n_clusters] + RNG.normal(0, 0.05, (n_rows, dimension))
    return np.clip(rows, -1, 1)


def inertia(rows, centres):
    return ((rows[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()


@pytest.mark.parametrize("ranges", [[2.0], [2.0, 2.0], [8.0, 1.0], [3.0, 1e-9, 2.0], [1.0] * 70])
def test_cells_are_about_as_many_as_wanted_and_cover_the_bounds(ranges):
    low = np.arange(len(ranges), dtype=float)
    axes, widths = grid._axes(low, low + ranges, 60)
    cells = grid.grid_points(axes)
    assert len(np.unique(cells, axis=0)) == len(cells)
    assert 30 <= len(cells) <= 120
    assert_allclose(cells.min(axis=0) - widths / 2, low)
    assert_allclose(cells.max(axis=0) + widths / 2, low + ranges)
    cut = widths < np.array(ranges) * 0.99
    assert widths[cut].max() < 2 * widths[cut].min()  # nearly cubes


def test_counts_are_brought_to_the_nearest_that_can_be():
    counts = np.array([50.0, -20.0, 3.0, 10.0, -1.0])
    found = grid.with_sum(counts, 48.0)
    assert found.sum() == pytest.approx(48)
    assert found.min() >= 0
    rng = np.random.default_rng(1)
    for _ in range(200):  # no other such numbers are nearer
        other = rng.dirichlet(np.ones(5)) * 48
        assert ((found - counts) ** 2).sum() <= ((other - counts) ** 2).sum()


def test_a_corner_of_loose_bounds_is_looked_at_more_closely():
    rows = clumps() / 8 - 0.5
    fitted = PrivateKMeans(10, epsilon=3, bounds=(-1, 1), method="grid", random_state=0).fit(rows)
    assert np.abs(fitted.cluster_centers_ + 0.5).max() < 0.2
    axes, _ = grid._axes(np.full(2, -1.0), np.ones(2), 200)
    coarse = grid.grid_points(axes)  # as fine as without the first look
    assert inertia(rows, fitted.cluster_centers_) < inertia(rows, coarse) / 2


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_rows_that_crowd_in_a_corner_of_the_bounds_get_no_grid(dimension):
    rows = clumps(4500, 8, dimension)
    model = PrivateKMeans(8, epsilon=0.3, bounds=(-1, 1), random_state=0)
    assert model.fit(rows).method_ == "grid"
    asked = [charge.query for charge in model.privacy_.queries]
    assert model.fit(rows / 8 - 0.5).method_ == "cells"
    assert asked[:2] == ["number of rows", "look: counts"]


def test_a_look_that_is_all_noise_keeps_the_grid():
    rows = clumps(600, 8) / 8 - 0.5
    assert fitted(rows, "auto", 0, 8, epsilon=0.05).method_ == "grid"


def test_few_rows_in_two_columns_are_clustered_better_than_by_cells():
    rows = clumps()
    found = {
        method: np.mean(
            [inertia(rows, fitted(rows, method, seed).cluster_centers_) for seed in range(4)]
        )
        for method in ("grid", "cells", "cautious")
    }
    assert 1.5 * found["grid"] < min(found["cells"], found["cautious"])


def fitted(rows, method, seed, n_clusters=10, **changes):
    options = {"epsilon": 0.2, "bounds": (-1, 1), "method": method, "random_state": seed}
    return PrivateKMeans(n_clusters, **{**options, **changes}).fit(rows)


@pytest.mark.parametrize(
    ("n_rows", "n_clusters", "dimension", "changes", "method"),
    [
        (3000, 10, 2, {}, "grid"),
        (3000, 10, 3, {}, "grid"),
        (3000, 15, 2, {"delta": 1e-6}, "grid"),
        (3000, 10, 2, {"delta": 1e-6}, "grid"),
        (600, 2, 2, {}, "grid"),
        (3000, 5, 2, {"delta": 1e-6}, "cells"),
        (3000, 10, 4, {}, "cautious"),
        (3000, 10, 2, {"epsilon": 5.0}, "cells"),
    ],
)
def test_it_is_chosen_for_few_rows_in_few_columns(n_rows, n_clusters, dimension, changes, method):
    rows = clumps(n_rows, n_clusters, dimension)
    assert fitted(rows, "auto", 0, n_clusters, **changes).method_ == method
