"""A grid of noisy counts: its cells, what is believed of them, and when it is chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

from privclust import PrivateKMeans
from privclust.clustering import grid
from privclust.clustering.weighted_kmeans import weighted_kmeans

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
def test_rows_in_a_corner_of_the_bounds_are_clustered_nearly_as_well(dimension):
    rows, worst = clumps(4500, 8, dimension), []
    for part in (rows, rows / 8 - 0.5):
        alone = KMeans(8, n_init=5, random_state=0).fit(part).inertia_
        found = [fitted(part, "grid", seed, 8, epsilon=1.0) for seed in range(4)]
        worst.append(np.mean([inertia(part, model.cluster_centers_) / alone for model in found]))
    assert worst[0] < 1.3
    assert worst[1] < 2.5  # cells of equal size would have 8 times the width of those above


def test_cells_are_split_by_their_rows():
    coarse = grid._Table(
        cells=np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]),
        widths=np.ones((4, 2)),
        counts=np.array([900.0, 100.0, 0.0, 0.0]),
        variances=np.ones(4),
        weights=np.array([900.0, 100.0, 0.0, 0.0]),
        tables=np.zeros(4, int),
        n_rows=1000.0,
    )
    cells, widths, sources = coarse._split(40)
    assert np.bincount(sources).tolist() == [36, 4, 1, 1]
    assert np.bincount(sources, widths.prod(axis=1)) == pytest.approx(np.ones(4))
    for source in range(4):  # each lies within the cell that it is a part of
        gaps = np.abs(cells[sources == source] - coarse.cells[source])
        assert gaps.max() <= 0.5 - widths[sources == source].min() / 2 + 1e-12


@pytest.mark.parametrize(("n_rows", "tables"), [(150, 1), (3000, 3)])
def test_few_rows_get_one_table_and_no_looks_at_noise(n_rows, tables):
    rows = clumps(n_rows, 4)
    model = PrivateKMeans(4, epsilon=0.2, bounds=(-1, 1), method="grid", random_state=0).fit(rows)
    assert sum("grid" in charge.query for charge in model.privacy_.queries) == tables


def test_empty_cells_together_weigh_what_they_have_together():
    rng = np.random.default_rng(3)
    counts = np.concatenate([rng.laplace(0, 10, 400), 200 + rng.laplace(0, 10, 100)])
    tables = np.repeat([0, 1], [400, 100])
    weights = grid._weigh(counts, np.full(500, 200.0), tables, 20_000.0)
    assert grid.with_sum(counts, 20_000.0)[:400].sum() > 500  # noise above zero
    assert weights[:400].sum() == 0
    assert weights.sum() == pytest.approx(20_000)
    counts[:10] += 200
    assert grid._weigh(counts, np.full(500, 200.0), tables, 22_000.0)[:400].sum() > 1500


def test_the_starts_that_are_finished_are_the_best():
    rng = np.random.default_rng(3)
    cells = np.repeat(rng.uniform(-1, 1, (40, 2)), 5, axis=0) + rng.normal(0, 0.01, (200, 2))
    best = KMeans(40, n_init=50, random_state=0).fit(cells).inertia_
    found = [
        inertia(cells, weighted_kmeans(cells, np.ones(200), 40, np.random.default_rng(seed)))
        for seed in range(5)
    ]
    assert np.mean(found) < 1.03 * best


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
        (3000, 5, 2, {"delta": 1e-6, "epsilon": 1.0}, "cells"),
        (3000, 10, 4, {}, "cautious"),
        (3000, 10, 2, {"epsilon": 5.0}, "cells"),
    ],
)
def test_it_is_chosen_for_few_rows_in_few_columns(n_rows, n_clusters, dimension, changes, method):
    rows = clumps(n_rows, n_clusters, dimension)
    assert fitted(rows, "auto", 0, n_clusters, **changes).method_ == method
