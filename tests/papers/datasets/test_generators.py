"""Generated sets have the shape that the papers give them, and are the same in every run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from privclust.exceptions import DataError
from privclust.papers.datasets.matrices import biclusters
from privclust.papers.datasets.named import (
    POINT_SETS,
    SOURCE_TARGET_SETS,
    SYNTHETIC_CATEGORIES,
    source_target_set,
)
from privclust.papers.datasets.points import (
    birch1_like,
    birch2_like,
    blobs,
    clumps,
    g2_like,
    image_pixels,
    s_like,
)
from privclust.papers.datasets.source_target import (
    digit_pair,
    geography,
    project_pair,
    scale_pair,
    synthetic_2,
)

CITIES = Path(__file__).parents[3] / "examples" / "clinic_sites_cities.csv"


def test_biclusters_are_three_blocks_of_counts():
    data = biclusters(30, seed=3)
    assert (data.counts.shape, data.n_classes) == ((1000, 30), 3)
    means = np.array([data.counts.toarray()[data.classes == c].mean(axis=0) for c in range(3)])
    # Every column belongs to one block, where its mean is well above that of the noise.
    assert np.bincount(means.argmax(axis=0), minlength=3).tolist() == [10, 10, 10]


def test_clumps_lie_in_the_unit_ball_and_follow_their_seed():
    rows = clumps(500, 3, 4, seed=1)
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12
    assert (rows == clumps(500, 3, 4, seed=1)).all()
    assert (rows != clumps(500, 3, 4, seed=2)).any()


@pytest.mark.parametrize(
    ("make", "n", "d", "k"),
    [
        (lambda: s_like(n=900), 900, 2, 15),
        (lambda: birch1_like(n=1000), 1000, 2, 100),
        (lambda: birch2_like(n=1000), 1000, 2, 100),
        (lambda: g2_like(4, 10, n=101), 101, 4, 2),
        (lambda: blobs(5, n=640), 640, 5, 64),
        (image_pixels, 273280, 3, 16),
        (POINT_SETS["digits"], 1797, 64, 10),
        (POINT_SETS["wine"], 178, 13, 3),
    ],
)
def test_a_point_set_lies_within_its_declared_bounds(make, n, d, k):
    data = make()
    assert (data.points.shape, data.n_clusters) == ((n, d), k)
    assert (data.points >= data.schema.low).all()
    assert (data.points <= data.schema.high).all()


def test_birch_and_g2_have_the_distances_of_their_papers():
    grid = birch1_like(n=20_000).points
    corner = grid[(np.abs(grid) < 2.5).all(axis=1)]
    assert corner.mean(axis=0) == pytest.approx([0, 0], abs=0.3)
    two = g2_like(6, 20).points
    assert two[:1024].mean() == pytest.approx(500, abs=2)
    assert two[1024:].mean() == pytest.approx(600, abs=2)


@pytest.mark.parametrize("name", SYNTHETIC_CATEGORIES)
def test_without_noise_the_first_columns_tell_the_target(name):
    data, size = SYNTHETIC_CATEGORIES[name](0.0, np.random.default_rng(0))
    table = np.stack([column.to_numpy() for column in data.rows.columns], axis=1)
    assert table.shape == (10_000, 11)
    target, context = table[:, 0], table[:, 1 : size + 1]
    told = context.sum(axis=1) == 0 if name == "Synth-D" else context[:, 0]
    assert (target == told).all()
    assert abs(np.corrcoef(target, table[:, -1])[0, 1]) < 0.05


@pytest.mark.parametrize("name", ["Synthetic 1", "Synthetic 2", "Synthetic 3", "digits 1→7"])
def test_a_target_has_radius_one_half_and_at_most_eight_dimensions(name):
    source, target = source_target_set(name)(5)
    assert np.linalg.norm(target, axis=1).max() == pytest.approx(0.5)
    assert source.shape[1] == target.shape[1] <= 8
    assert (SOURCE_TARGET_SETS[name](5).source == source).all()


def test_half_of_the_target_clusters_have_sources():
    source, target = synthetic_2(0)
    near = [np.linalg.norm(source - point, axis=1).min() < 0.05 for point in target]
    assert np.mean(near) == 0.5


def test_scaling_looks_at_the_target_alone():
    source, target = digit_pair(3, 8)
    pair, other = digit_pair(3, 8), digit_pair(3, 8)._replace(source=source[:5])
    assert (scale_pair(pair).target == scale_pair(other).target).all()
    assert (project_pair(pair, 1).target == project_pair(other, 1).target).all()
    assert target.shape[1] == 64


def test_practices_stand_around_cities():
    source, target = geography(CITIES, 0)
    assert (len(source), len(target)) == (3000, 259)
    near = [np.linalg.norm(target - place, axis=1).min() for place in source[:200]]
    assert np.quantile(near, 0.95) < 1


def test_an_unknown_name_is_told_what_may_be_written():
    with pytest.raises(DataError, match="FILE:SOURCE:TARGET"):
        source_target_set("Synthetic 4")
