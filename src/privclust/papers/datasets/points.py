"""Point sets for k-means: clumps, sets in the style of S1, Birch and G2, images, files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_sample_image,
    load_wine,
    make_blobs,
)

from privclust._typing import Floats
from privclust.exceptions import DataError
from privclust.papers.datasets.formats import read_idx, read_numbers, stem
from privclust.schema.ball_fact import Ball
from privclust.schema.schema import Schema

_TOYS = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "breast_cancer": (load_breast_cancer, 2),
}
_PHOTOGRAPH = "china.jpg"


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points, the number of clusters to look for, and what is declared about the points.

    Attributes
    ----------
    name : str
    points : ndarray of shape (n_points, n_features)
    n_clusters : int
    schema : Schema
    """

    name: str
    points: Floats
    n_clusters: int
    schema: Schema


def clumps(
    n: int, d: int, k: int, *, width: float = 0.25, balanced: bool = True, seed: int = 0
) -> Floats:
    """Return normal clumps around centres uniform in a ball of radius .875, in the unit ball.

    Parameters
    ----------
    n, d, k : int
        Numbers of points, dimensions and clumps.
    width : float, default=0.25
        Their spread in units of the usual distance of centres; at .6 they overlap.
    balanced : bool, default=True
        Whether the clumps are of about equal size.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, d))
    centres *= 0.875 * rng.random((k, 1)) ** (1 / d) / np.linalg.norm(centres, axis=1)[:, None]
    weights = np.full(k, 1 / k) if balanced else rng.dirichlet(np.full(k, 2.0))
    points = centres[rng.choice(k, n, p=weights)]
    points = points + rng.standard_normal((n, d)) * width * k ** (-1 / d) / np.sqrt(d)
    return np.asarray(points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1))


def clump_set(name: str, n: int, d: int, k: int, **options: Any) -> PointSet:
    """Return :func:`clumps` with the unit ball declared."""
    schema = Schema.from_bounds(-1, 1, n_columns=d, ball=Ball(1.0, [0.0] * d))
    return PointSet(name, clumps(n, d, k, **options), k, schema)


def in_box(name: str, points: Floats, n_clusters: int, low: float, high: float) -> PointSet:
    """Return points clipped to a declared box."""
    schema = Schema.from_bounds(low, high, n_columns=points.shape[1])
    return PointSet(name, np.clip(points, low, high), n_clusters, schema)


def s_like(spread: float = 0.035, *, n: int = 5000, seed: int = 0) -> PointSet:
    """Return 15 round clusters in the unit square, in the style of Fränti's S1 (S4: .08).

    Centres are drawn again until they keep a distance of .15 from each other.
    """
    rng = np.random.default_rng(seed)
    centres = np.zeros((0, 2))
    while len(centres) < 15:
        drawn = rng.uniform(0.1, 0.9, 2)
        if (np.linalg.norm(centres - drawn, axis=1) > 0.15).all():
            centres = np.vstack([centres, drawn])
    points = centres[np.arange(n) % 15] + rng.normal(0, spread, (n, 2))
    return in_box("S1-like", points, 15, 0, 1)


def birch1_like(*, n: int = 100_000, seed: int = 0) -> PointSet:
    """Return 100 clusters on a square grid, deviation 1 and distance 4 √2, as Birch's DS1."""
    rng = np.random.default_rng(seed)
    step = 4 * math.sqrt(2)
    centres = np.stack(np.meshgrid(np.arange(10), np.arange(10)), axis=-1).reshape(-1, 2) * step
    points = centres[np.arange(n) % 100] + rng.standard_normal((n, 2))
    return in_box("Birch1-like", points, 100, -step, 10 * step)


def birch2_like(*, n: int = 100_000, seed: int = 0) -> PointSet:
    """Return 100 clusters along four periods of a sine curve, as Birch's DS2."""
    rng = np.random.default_rng(seed)
    number = np.arange(100)
    curve = np.stack([2 * np.pi * number, 25 * np.sin(2 * np.pi * number / 25)], axis=1)
    points = curve[np.arange(n) % 100] + rng.standard_normal((n, 2))
    return in_box("Birch2-like", points, 100, -50, 650)


def g2_like(d: int = 8, spread: float = 30, *, n: int = 2048, seed: int = 0) -> PointSet:
    """Return two normal clusters at 500 and 600 on every axis, as Fränti's G2 sets."""
    rng = np.random.default_rng(seed)
    points = np.repeat([500.0, 600.0], [n // 2, n - n // 2])[:, None]
    points = points + rng.normal(0, spread, (n, d))
    return in_box(f"G2-like {d}-{spread:g}", points, 2, 200, 900)


def blobs(d: int = 10, *, n: int = 100_000, k: int = 64, seed: int = 0) -> PointSet:
    """Return scikit-learn's seeded blobs, as the authors of DPM use them: k = 64, deviation 1."""
    points, _ = make_blobs(n, d, centers=k, random_state=seed)
    return in_box(f"blobs {n} x {d}", points, k, -15, 15)


def image_pixels(n_clusters: int = 16) -> PointSet:
    """Return the colours of scikit-learn's photograph."""
    pixels = load_sample_image(_PHOTOGRAPH).reshape(-1, 3) / 255
    return in_box("photograph", pixels, n_clusters, 0, 1)


def image_patches(n_clusters: int = 16) -> PointSet:
    """Return grey windows of the photograph, 8 x 8 at every second pixel."""
    grey = load_sample_image(_PHOTOGRAPH).mean(axis=2) / 255
    windows = np.lib.stride_tricks.sliding_window_view(grey, (8, 8))[::2, ::2]
    return in_box("patches", windows.reshape(-1, 64).copy(), n_clusters, 0, 1)


def digits() -> PointSet:
    """Return scikit-learn's 1797 handwritten digits."""
    return in_box("digits", load_digits().data / 16, 10, 0, 1)


def toy_set(name: str) -> PointSet:
    """Return iris, wine or breast_cancer of scikit-learn; bounds are the ranges of the columns."""
    load, n_clusters = _TOYS[name]
    return _scale_to_range(name, load().data, n_clusters)


def read_points(path: str | Path, n_clusters: int) -> PointSet:
    """Read points of a file; the declared bounds are the ranges of its columns.

    Parameters
    ----------
    path : str or Path
        ``.npy``; ``.npz`` with an array of points or features; idx images (``…-ubyte``); any
        other file is a table of numbers, whose first line may be a header.
    n_clusters : int
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"There is no file '{path}'.")
    endings = path.suffixes
    if ".npy" in endings:
        points = np.load(path, allow_pickle=False)
    elif ".npz" in endings:
        points = _array_of_points(path)
    elif "ubyte" in path.name:
        images = read_idx(path)
        points = images.reshape(len(images), -1)
    else:
        points = read_numbers(path)
    return _scale_to_range(stem(path), np.asarray(points, dtype=np.float64), n_clusters)


def _array_of_points(path: Path) -> Any:
    with np.load(path, allow_pickle=False) as stored:
        for name in ("points", "features", *stored.files):
            if name in stored and stored[name].ndim == 2:
                return stored[name]
    raise DataError(f"'{path}' has no array of points.")


def _scale_to_range(name: str, points: Floats, n_clusters: int) -> PointSet:
    low, high = points.min(axis=0), points.max(axis=0)
    high = np.where(high > low, high, low + 1)
    schema = Schema.from_bounds(low.tolist(), high.tolist(), n_columns=points.shape[1])
    return PointSet(name, points, n_clusters, schema)
