"""Source and target sets of the paper's experiments, and one of real cities.

Every set is a function of a seed and returns source and target in public coordinates: projected
to eight dimensions where there are more, centred and scaled by the target alone to a radius of 1/2.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

__all__ = ["SETS", "cities", "clinics"]

Pair = tuple[np.ndarray, np.ndarray]

CITIES = Path(__file__).parent.parent / "examples" / "clinic_sites_cities.csv"
DIGIT_PAIRS = [(1, 7), (7, 1), (3, 8), (8, 3), (9, 4), (4, 9), (5, 2), (2, 5), (6, 9), (9, 6)]


def synthetic_1(seed: int) -> Pair:
    """Two Gaussians that overlap."""
    rng = np.random.default_rng(1000 + seed)
    return rng.normal(0.15, 0.4, (2000, 2)), rng.normal(0.95, 0.4, (2000, 2))


def synthetic_2(seed: int) -> Pair:
    """Tight clusters on grids; the source covers half of those of the target."""
    rng = np.random.default_rng(1000 + seed)
    low, high = (0.1, 0.2, 0.3), (0.7, 0.8, 0.9)
    source = np.array([*product(low + high, high), *product(high, low)])
    target = np.array([*product(low, low), *product(high, low)])
    return _around(source, 2700, 0.01, rng), _around(target, 1800, 0.01, rng)


def synthetic_3(seed: int) -> Pair:
    """Six source clusters and twelve target clusters anywhere in the unit square."""
    rng = np.random.default_rng(1000 + seed)
    source, target = rng.uniform(size=(6, 2)), rng.uniform(size=(12, 2))
    return _around(source, 1800, 0.03, rng), _around(target, 1800, 0.01, rng)


def digits(source: int, target: int) -> Callable[[int], Pair]:
    """Return a pair of digits as pixels; the images of one are the source, of the other target."""

    def pair(seed: int) -> Pair:
        pixels, labels = load_digits(return_X_y=True)
        rng = np.random.default_rng(seed)
        axes = rng.standard_normal((pixels.shape[1], 8)) / np.sqrt(8)
        return pixels[labels == source] @ axes, pixels[labels == target] @ axes

    return pair


def cities() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names, latitudes and longitudes, and populations in thousands."""
    with CITIES.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = np.array([[float(row["latitude"]), float(row["longitude"])] for row in rows])
    people = np.array([float(row["population_thousands"]) for row in rows])
    return [row["city"] for row in rows], places, people


def clinics(seed: int, count: int = 3000) -> np.ndarray:
    """Return made-up practices around the larger half of a random choice of the cities."""
    rng = np.random.default_rng(2000 + seed)
    _, places, people = cities()
    equipped = rng.random(len(places)) < 0.4
    chances = np.where(equipped, people, 0.0)
    homes = places[rng.choice(len(places), count, p=chances / chances.sum())]
    return np.clip(homes + rng.normal(0, 0.25, homes.shape), [-90, -180], [90, 180])


def geography(seed: int) -> Pair:
    """Return practices and cities on a flat map."""
    _, places, _ = cities()
    flat = np.array([1, np.cos(np.radians(places[:, 0].mean()))])
    return clinics(seed) * flat, places * flat


def _around(centres: np.ndarray, count: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    return centres[np.arange(count) % len(centres)] + rng.normal(0, spread, (count, 2))


def _scaled(make: Callable[[int], Pair]) -> Callable[[int], Pair]:
    def scaled(seed: int) -> Pair:
        source, target = make(seed)
        centre = target.mean(axis=0)
        size = 2 * np.linalg.norm(target - centre, axis=1).max()
        return (source - centre) / size, (target - centre) / size

    return scaled


SETS: dict[str, Callable[[int], Pair]] = {
    "Synthetic 1": _scaled(synthetic_1),
    "Synthetic 2": _scaled(synthetic_2),
    "Synthetic 3": _scaled(synthetic_3),
    "cities": _scaled(geography),
    **{f"digits {s}→{t}": _scaled(digits(s, t)) for s, t in DIGIT_PAIRS},
}
