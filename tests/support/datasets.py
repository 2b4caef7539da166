"""Small private data for every family, the same in every run, with the schemas that fit them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from privclust import Bins, Box, Categories, Schema

SURVEY = Schema(
    {
        "drink": Categories(["tea", "milk", "water"]),
        "town": Categories(["north", "south", "west"]),
        "pet": Categories(["cat", "dog"]),
        "age": Bins([0, 30, 50, 70, 120]),
    }
)
POINTS = Schema({"x": Box(0, 10), "y": Box(0, 10), "z": Box(0, 10)})
MIXED = Schema(
    {
        "age": Box(0, 100),
        "town": Categories(["north", "south", "west"], unknown="other"),
        "since": Box("2020-01-01", "2024-12-31"),
        "pet": Categories(["cat", "dog"], missing="omit", weight=0.5),
        "visits": Bins([0, 2, 5, 20], missing="category", weight=2),
    }
)
PLACES = Schema({"x": Box(0, 10), "y": Box(0, 10)})


def points() -> pd.DataFrame:
    """Return four clumps of people, each with one to three rows."""
    rng = np.random.default_rng(1)
    centres = np.array([[2.0, 2.0, 2.0], [8.0, 2.0, 5.0], [2.0, 8.0, 9.0], [8.0, 8.0, 1.0]])
    rows = centres[rng.integers(4, size=3000)] + rng.normal(0, 0.5, (3000, 3))
    table = pd.DataFrame(rows, columns=["x", "y", "z"])
    table["who"] = rng.integers(2000, size=3000)
    return table


def survey() -> pd.DataFrame:
    """Return answers that hang together, of people with one to three rows."""
    rng = np.random.default_rng(2)
    kind = rng.integers(3, size=2500)
    table = pd.DataFrame(
        {
            "drink": np.array(["tea", "milk", "water"])[np.where(rng.random(2500) < 0.8, kind, 0)],
            "town": np.array(["north", "south", "west"])[np.where(rng.random(2500) < 0.7, kind, 1)],
            "pet": np.array(["cat", "dog"])[(kind + (rng.random(2500) < 0.3)) % 2],
            "age": 20 + 20 * kind + rng.integers(0, 25, 2500),
        }
    )
    table["who"] = rng.integers(1700, size=2500)
    return table


def mixed() -> pd.DataFrame:
    """Return patients of three kinds, of people with one to three rows; some values are missing."""
    rng = np.random.default_rng(5)
    kind = rng.integers(3, size=2500)
    days = pd.to_timedelta(300 * kind + rng.integers(0, 300, 2500), unit="D")
    table = pd.DataFrame(
        {
            "age": (25 + 25 * kind + rng.normal(0, 5, 2500)).clip(0, 100),
            "town": np.array(["north", "south", "west", "abroad"])[
                np.where(rng.random(2500) < 0.8, kind, 3)
            ],
            "since": pd.Timestamp("2020-02-01") + days,
            "pet": np.array(["cat", "dog", None], object)[
                np.where(rng.random(2500) < 0.2, 2, kind % 2)
            ],
            "visits": np.where(rng.random(2500) < 0.1, np.nan, 1 + 3 * kind),
        }
    )
    table["who"] = rng.integers(1700, size=2500)
    return table


def baskets() -> sparse.csr_matrix:
    """Return a matrix of counts with three blocks."""
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(3, size=240), rng.integers(3, size=90)
    rates = np.where(rows[:, None] == columns, 1.5, 0.15)
    return sparse.csr_matrix(rng.poisson(rates))


def places() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return public targets and private sources of a square."""
    rng = np.random.default_rng(4)
    target = pd.DataFrame(rng.uniform(0, 10, (150, 2)), columns=["x", "y"])
    source = pd.DataFrame(rng.normal(3, 1, (800, 2)).clip(0, 10), columns=["x", "y"])
    source["who"] = rng.integers(500, size=800)
    return target, source
