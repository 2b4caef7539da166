"""Sets for measuring mixtures: generated ones of known shape, and real tables at hand.

Bounds are declared as somebody would who knows what the columns mean, never taken from the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_sample_image
from sklearn.model_selection import train_test_split

from privclust.mixture.model import Gaussians

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MixtureSet:
    """Rows to fit, rows held out, classes of the latter if they are known, bounds, and k."""

    rows: Floats
    held: Floats
    classes: NDArray[np.int64] | None
    low: Floats
    high: Floats
    k: int
    law: Gaussians | None = None  # that generated the rows, if it is a mixture
    number: int | None = None  # of components, if there is a true one


Maker = Callable[[np.random.Generator], MixtureSet]


def _generated(
    n: int,
    d: int,
    k: int,
    *,
    width: float = 0.07,
    apart: float = 0.6,
    sizes: list[float] | None = None,
    tails: float = 0.0,
    outliers: float = 0.0,
    bound: float = 1.0,
) -> Maker:
    """Return a maker of components of random shape; what ``n`` counts are the rows to fit."""

    def make(rng: np.random.Generator) -> MixtureSet:
        places = _spread_places(rng, k, d, apart)
        roots = rng.standard_normal((k, d, d)) * width + 0.3 * width * np.eye(d)
        weights = np.full(k, 1 / k) if sizes is None else np.array(sizes) / sum(sizes)
        labels = rng.choice(k, 2 * n, p=weights)
        noise = rng.standard_normal((2 * n, d))
        if tails:
            noise *= np.sqrt(tails / rng.chisquare(tails, 2 * n))[:, None]
        rows = places[labels] + np.einsum("nij,nj->ni", roots[labels], noise)
        far = rng.random(2 * n) < outliers
        rows[far] = rng.uniform(-1, 1, (int(far.sum()), d))
        rows = np.clip(rows, -bound, bound)
        low = np.full(d, -bound)
        law = Gaussians(weights, places, roots @ roots.swapaxes(1, 2))
        known = None if tails or outliers else law
        return MixtureSet(rows[:n], rows[n:], labels[n:], low, -low, k, known, k)

    return make


def _spread_places(rng: np.random.Generator, k: int, d: int, apart: float) -> Floats:
    """Return means of which no two lie very close, where that can be had."""
    best, gap = rng.uniform(-apart, apart, (k, d)), -1.0
    for _ in range(20):
        places = rng.uniform(-apart, apart, (k, d))
        gaps = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(k)
        if gaps.min() > gap:
            best, gap = places, float(gaps.min())
    return best


GENERATED: dict[str, Maker] = {
    "2000x4": _generated(2000, 4, 3),
    "5000x6": _generated(5000, 6, 4),
    "1000x2": _generated(1000, 2, 3),
    "unbalanced": _generated(10_000, 4, 6, sizes=[32, 16, 8, 4, 2, 1]),
    "overlapping": _generated(10_000, 4, 5, width=0.12, apart=0.35),
    "loose": _generated(10_000, 3, 5, bound=10.0),
    "tails": _generated(10_000, 3, 5, tails=4),
    "outliers": _generated(10_000, 3, 5, outliers=0.05),
    "500x2": _generated(500, 2, 2, width=0.2, apart=0.4),
    "300x3": _generated(300, 3, 3),
}


def _real(
    rows: Floats,
    low: list[float],
    high: list[float],
    k: int,
    classes: object = None,
    number: int | None = None,
) -> Maker:
    def make(rng: np.random.Generator) -> MixtureSet:
        n = len(rows)
        fitted, held = train_test_split(
            np.arange(n), test_size=0.25, random_state=int(rng.integers(2**31))
        )
        known = None if classes is None else np.asarray(classes)[held]
        least, most = np.array(low, float), np.array(high, float)
        clipped = np.clip(rows, least, most)
        held_out = clipped[held]
        return MixtureSet(clipped[fitted], held_out, known, least, most, k, number=number)

    return make


def _photograph(name: str) -> Maker:
    pixels = load_sample_image(name).reshape(-1, 3).astype(float)
    rng = np.random.default_rng(0)
    rows = pixels[rng.choice(len(pixels), 50_000, replace=False)]
    return _real(_smoothed(rows), [0] * 3, [255] * 3, 8)


def _smoothed(rows: Floats) -> Floats:
    """Return whole numbers with even noise below one: else densities of spikes have no end."""
    return rows + np.random.default_rng(0).uniform(-0.5, 0.5, rows.shape)


def _quadrants(images: Floats) -> Floats:
    """Return the mean brightness of the four quarters of square images."""
    side = int(np.sqrt(images.shape[1]))
    half = images.reshape(-1, 2, side // 2, 2, side // 2).mean(axis=(2, 4))
    return np.asarray(half.reshape(-1, 4), float)


def real_sets(folder: Path | None) -> dict[str, Maker]:
    """Return the real tables that are there; those of scikit-learn always are."""
    cancer, digits = load_breast_cancer(), load_digits()
    sets = {
        "china": _photograph("china.jpg"),
        "flower": _photograph("flower.jpg"),
        "cancer": _real(
            cancer.data[:, [0, 1, 4]], [5, 5, 0.04], [30, 40, 0.18], 2, cancer.target, number=2
        ),
        "digits": _real(_quadrants(digits.data), [0] * 4, [16] * 4, 10, digits.target),
    }
    if folder is None or not folder.is_dir():
        return sets
    adult = pd.read_csv(folder / "adult.csv.gz")
    conductors = np.load(folder / "superconductivity.npz")
    images = np.load(folder / "mnist_pairs.npz")
    names = list(conductors["names"])
    wanted = [names.index(name) for name in ("mean_atomic_mass", "mean_fie", "mean_Valence")]
    heat = conductors["critical_temperature"][:, None]
    table = np.column_stack([conductors["features"][:, wanted], heat]).astype(float)
    people = _smoothed(adult[["age", "education-num", "hours-per-week"]].to_numpy(float))
    weighed = np.column_stack([adult["age"], np.log10(adult["fnlwgt"])]).astype(float)
    classes = np.concatenate([np.full(len(images[one]), i) for i, one in enumerate(images.files)])
    pictures = np.concatenate([images[one] for one in images.files]).astype(float)
    plane = np.loadtxt(folder / "s1.txt.gz")
    return sets | {
        "adult": _real(people, [15, 0, 0], [95, 17, 100], 6),
        "adult weights": _real(weighed, [15, 4], [95, 6.5], 4),
        "conductors": _real(table, [0, 300, 0, 0], [220, 1400, 8, 150], 5),
        "mnist": _real(_quadrants(pictures), [0] * 4, [150] * 4, 6, classes),
        "s1": _real(plane, [0, 0], [1e6, 1e6], 15, number=15),
    }
