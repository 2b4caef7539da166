"""The categorical data sets of the benchmark: real tables from a folder, and Synth-A to Synth-D.

Numeric columns are cut into five k-means bins, and a missing value ("?") becomes the commonest
value, as in the paper; both are done here, outside of the private fits, whose schema then declares
them. Product code would declare "?" as a category instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import KBinsDiscretizer

from privclust import Bins, Categories, Schema

NUMERIC = {
    "adult": (
        "age",
        "fnlwgt",
        "education-num",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
    ),
    "dermatology": ("a34",),
}
REAL = ("adult", "mushroom", "soybean", "dermatology")
N_SYNTHETIC, N_COLUMNS = 10_000, 11


@dataclass(frozen=True)
class CategorySet:
    """A table, its schema and the classes of its rows."""

    name: str
    rows: pd.DataFrame
    schema: Schema
    classes: np.ndarray

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.classes))


def load(name: str, folder: Path) -> CategorySet:
    """Read a real data set."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    classes = pd.factorize(frame.pop("class"))[0]
    columns = {}
    for column in frame:
        usual = frame[column][frame[column] != "?"].mode()[0]
        frame[column] = frame[column].replace("?", usual)
        if column in NUMERIC.get(name, ()):
            frame[column] = frame[column].astype(float)
            columns[column] = Bins(k_means_edges(frame[column].to_numpy()))
        else:
            columns[column] = Categories(sorted(frame[column].unique()))
    return CategorySet(name, frame, Schema(columns), classes)


def k_means_edges(numbers: np.ndarray, bins: int = 5) -> list[float]:
    """Return the edges of k-means bins. NOT PRIVATE: for benchmarks on public data."""
    cutter = KBinsDiscretizer(
        bins, encode="ordinal", strategy="kmeans", random_state=0, subsample=None
    )
    return list(map(float, cutter.fit(numbers[:, None]).bin_edges_[0]))


def _swapped(column: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    places = rng.choice(len(column), round(noise * len(column)), replace=False)
    column = column.copy()
    column[places] = 1 - column[places]
    return column


def _synthetic(name: str, columns: list[np.ndarray], rng: np.random.Generator) -> CategorySet:
    while len(columns) < N_COLUMNS:
        columns.append(rng.integers(0, 2, N_SYNTHETIC))
    rows = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})
    schema = Schema({column: Categories([0, 1]) for column in rows})
    return CategorySet(name, rows, schema, np.zeros(len(rows)))


def _balanced(ones: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(np.repeat([1, 0], [ones, N_SYNTHETIC - ones]))


def synth_a(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Three noisy copies of a balanced target."""
    target = _balanced(5000, rng)
    return _synthetic(
        "Synth-A", [target, *(_swapped(target, noise, rng) for _ in range(3))], rng
    ), 3


def synth_b(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Three noisy copies of an unbalanced target."""
    target = _balanced(2000, rng)
    return _synthetic(
        "Synth-B", [target, *(_swapped(target, noise, rng) for _ in range(3))], rng
    ), 3


def synth_c(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Three noisy copies, and two noisier ones that must stay out of the context."""
    target = _balanced(2000, rng)
    copies = [_swapped(target, noise, rng) for _ in range(3)]
    weak = [_swapped(target, 0.35, rng) for _ in range(2)]
    return _synthetic("Synth-C", [target, *copies, *weak], rng), 3


def synth_d(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """One block of five: four columns that tell the target only together."""
    block = rng.permutation(np.repeat(np.arange(5), N_SYNTHETIC // 5))
    columns = [_swapped((block == part).astype(int), noise, rng) for part in range(5)]
    return _synthetic("Synth-D", columns, rng), 4


SYNTHETIC: dict[str, Callable[[float, np.random.Generator], tuple[CategorySet, int]]] = {
    "Synth-A": synth_a,
    "Synth-B": synth_b,
    "Synth-C": synth_c,
    "Synth-D": synth_d,
}
