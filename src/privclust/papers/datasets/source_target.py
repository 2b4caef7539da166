"""Source and target sets: the three synthetic ones, digits, clinics among cities, and files.

A pair is source and target in the same public coordinates. The paper projects them at random to
eight dimensions and scales them by the target alone to a radius of 1/2: :func:`projected` and
:func:`scaled`.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from privclust._typing import Floats
from privclust.exceptions import DataError
from privclust.papers.datasets.formats import read_idx

_PROJECTED = 8
_QUARTERS = ("l", "ml", "mh", "h")
# How closely the feature by which superconductors are split follows the critical temperature.
_MODERATE = 0.3


class SourceTarget(NamedTuple):
    """Existing points, and points to be served."""

    source: Floats
    target: Floats


def scale_pair(pair: SourceTarget) -> SourceTarget:
    """Centre and scale by the target alone, which is public: its radius becomes 1/2."""
    source, target = pair
    centre = target.mean(axis=0)
    size = 2 * np.linalg.norm(target - centre, axis=1).max()
    return SourceTarget((source - centre) / size, (target - centre) / size)


def project_pair(pair: SourceTarget, seed: int, dimension: int = _PROJECTED) -> SourceTarget:
    """Project at random, as Johnson and Lindenstrauss do, where there are more dimensions."""
    source, target = pair
    if target.shape[1] <= dimension:
        return pair
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((target.shape[1], dimension)) / np.sqrt(dimension)
    return SourceTarget(source @ axes, target @ axes)


def synthetic_1(seed: int) -> SourceTarget:
    """Return two Gaussians that overlap."""
    rng = np.random.default_rng(1000 + seed)
    source = rng.normal(0.15, 0.4, (2000, 2))
    return SourceTarget(source, rng.normal(0.95, 0.4, (2000, 2)))


def synthetic_2(seed: int) -> SourceTarget:
    """Return tight clusters on grids; the source covers half of those of the target."""
    rng = np.random.default_rng(1000 + seed)
    low, high = (0.1, 0.2, 0.3), (0.7, 0.8, 0.9)
    source = np.array([*product(low + high, high), *product(high, low)])
    target = np.array([*product(low, low), *product(high, low)])
    return SourceTarget(_around(source, 2700, 0.01, rng), _around(target, 1800, 0.01, rng))


def synthetic_3(seed: int) -> SourceTarget:
    """Return six source clusters and twelve target clusters anywhere in the unit square."""
    rng = np.random.default_rng(1000 + seed)
    source, target = rng.uniform(size=(6, 2)), rng.uniform(size=(12, 2))
    return SourceTarget(_around(source, 1800, 0.03, rng), _around(target, 1800, 0.01, rng))


def digit_pair(source: int, target: int) -> SourceTarget:
    """Return the images of two of scikit-learn's digits as pixels."""
    pixels, labels = load_digits(return_X_y=True)
    return SourceTarget(pixels[labels == source], pixels[labels == target])


def read_cities(path: str | Path) -> tuple[list[str], Floats, Floats]:
    """Return names, latitudes and longitudes, and populations in thousands of a CSV file."""
    with Path(path).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = np.array([[float(row["latitude"]), float(row["longitude"])] for row in rows])
    people = np.array([float(row["population_thousands"]) for row in rows])
    return [row["city"] for row in rows], places, people


def clinics(places: Floats, people: Floats, seed: int, count: int = 3000) -> Floats:
    """Return synthetic practices around a random choice of cities, more where more people live."""
    rng = np.random.default_rng(2000 + seed)
    equipped = rng.random(len(places)) < 0.4
    chances = np.where(equipped, people, 0.0)
    homes = places[rng.choice(len(places), count, p=chances / chances.sum())]
    return np.clip(homes + rng.normal(0, 0.25, homes.shape), [-90, -180], [90, 180])


def geography(path: str | Path, seed: int) -> SourceTarget:
    """Return synthetic practices and the cities of a file on a flat map."""
    _, places, people = read_cities(path)
    flat = np.array([1, np.cos(np.radians(places[:, 0].mean()))])
    return SourceTarget(clinics(places, people, seed) * flat, places * flat)


def read_pair(path: str | Path, source: str, target: str) -> SourceTarget:
    """Read two parts of an ``.npz`` file.

    Parameters
    ----------
    path : str or Path
        An array for each part, such as ``digit1``; or ``features`` and ``critical_temperature`` of
        superconductors, whose parts are l, ml, mh and h: quarters by the feature whose correlation
        with the temperature is nearest to .3, which is then left out (Pardoe and Stone 2010).
    source, target : str
        The names of the parts.
    """
    if not Path(path).exists():
        raise DataError(f"There is no file '{path}'.")
    with np.load(path, allow_pickle=False) as stored:
        parts = {name: stored[name] for name in stored.files}
    if "critical_temperature" in parts:
        parts = _quarters(parts["features"], parts["critical_temperature"])
    missing = [name for name in (source, target) if name not in parts]
    if missing:
        raise DataError(f"'{path}' has no part {missing[0]!r}; it has {', '.join(parts)}.")
    return SourceTarget(*(np.asarray(parts[name], dtype=np.float64) for name in (source, target)))


def read_mnist_pair(
    images: str | Path, labels: str | Path, source: int, target: int
) -> SourceTarget:
    """Read the images of two digits from MNIST's own files in the idx format."""
    pixels, digits = read_idx(images), read_idx(labels)
    pixels = pixels.reshape(len(pixels), -1).astype(np.float64)
    return SourceTarget(pixels[digits == source], pixels[digits == target])


def _quarters(features: NDArray[Any], temperature: NDArray[Any]) -> dict[str, NDArray[Any]]:
    features = np.asarray(features, dtype=np.float64)
    spread = features.std(axis=0) > 0
    follows = np.zeros(features.shape[1])
    follows[spread] = [abs(np.corrcoef(x, temperature)[0, 1]) for x in features.T[spread]]
    by = int(np.abs(follows - _MODERATE).argmin())
    order = np.argsort(features[:, by], kind="stable")
    others = np.delete(features, by, axis=1)
    return dict(zip(_QUARTERS, np.array_split(others[order], 4), strict=True))


def _around(centres: Floats, count: int, spread: float, rng: np.random.Generator) -> Floats:
    return np.asarray(centres[np.arange(count) % len(centres)] + rng.normal(0, spread, (count, 2)))
