"""The point sets of the k-means benchmarks: generated clumps, an image, its patches, digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_sample_image

from privclust import Ball, Schema

__all__ = ["POINT_SETS", "PointSet", "best_inertia"]


@dataclass(frozen=True)
class PointSet:
    """Points, the number of clusters to look for, and what is declared about the points."""

    name: str
    points: np.ndarray
    n_clusters: int
    schema: Schema


def clumps(
    n: int, d: int, k: int, *, width: float = 0.25, balanced: bool = True, seed: int = 0
) -> np.ndarray:
    """Return normal clumps around centres uniform in a ball of radius .875, in the unit ball."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, d))
    centres *= 0.875 * rng.random((k, 1)) ** (1 / d) / np.linalg.norm(centres, axis=1)[:, None]
    weights = np.full(k, 1 / k) if balanced else rng.dirichlet(np.full(k, 2.0))
    points = centres[rng.choice(k, n, p=weights)]
    points = points + rng.standard_normal((n, d)) * width * k ** (-1 / d) / np.sqrt(d)
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1)


def in_ball(name: str, points: np.ndarray, n_clusters: int) -> PointSet:
    d = points.shape[1]
    schema = Schema.from_bounds(-1, 1, n_columns=d, ball=Ball(1.0, [0.0] * d))
    return PointSet(name, points, n_clusters, schema)


def in_box(name: str, points: np.ndarray, n_clusters: int, high: float) -> PointSet:
    return PointSet(
        name, points, n_clusters, Schema.from_bounds(0, high, n_columns=points.shape[1])
    )


def china_pixels() -> PointSet:
    pixels = load_sample_image("china.jpg").reshape(-1, 3) / 255
    return in_box("china_16", pixels, 16, 1)


def china_patches() -> PointSet:
    """8 x 8 grey windows at every second pixel."""
    grey = load_sample_image("china.jpg").mean(axis=2) / 255
    windows = np.lib.stride_tricks.sliding_window_view(grey, (8, 8))[::2, ::2]
    return in_box("patch_8_16", windows.reshape(-1, 64).copy(), 16, 1)


def digits() -> PointSet:
    return in_box("digits", load_digits().data / 16, 10, 1)


POINT_SETS: dict[str, Callable[[], PointSet]] = {
    "1e4_2_5": lambda: in_ball("1e4_2_5", clumps(10**4, 2, 5), 5),
    "1e4_10_5": lambda: in_ball("1e4_10_5", clumps(10**4, 10, 5), 5),
    "over 1e5_2_15": lambda: in_ball("over 1e5_2_15", clumps(10**5, 2, 15, width=0.6), 15),
    "unb 1e5_5_16": lambda: in_ball("unb 1e5_5_16", clumps(10**5, 5, 16, balanced=False), 16),
    "over 1e5_10_10": lambda: in_ball("over 1e5_10_10", clumps(10**5, 10, 10, width=0.6), 10),
    "1e5_20_20": lambda: in_ball("1e5_20_20", clumps(10**5, 20, 20), 20),
    "1e5_64_64": lambda: in_ball("1e5_64_64", clumps(10**5, 64, 64), 64),
    "china_16": china_pixels,
    "patch_8_16": china_patches,
    "1e6_8_32": lambda: in_ball("1e6_8_32", clumps(10**6, 8, 32), 32),
    "digits": digits,
    "1e6_16_16": lambda: in_ball("1e6_16_16", clumps(10**6, 16, 16), 16),
}


@cache
def best_inertia(name: str) -> float:
    """Return the best inertia that ordinary k-means finds in several starts."""
    data = POINT_SETS[name]()
    starts = 20 if len(data.points) <= 10**5 else 5
    return float(KMeans(data.n_clusters, n_init=starts, random_state=0).fit(data.points).inertia_)
