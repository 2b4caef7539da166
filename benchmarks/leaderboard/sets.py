"""The point sets of the leaderboard: those that papers of 2024 to 2026 share, ours, or any file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privclust.exceptions import DataError
from privclust.papers.datasets.categories import LAYOUTS
from privclust.papers.datasets.formats import read_records
from privclust.papers.datasets.named import point_set
from privclust.papers.datasets.points import PointSet
from privclust.schema.schema import Schema

# Small enough for every method and a busy machine; then all.
SMALL = ("s1", "g2", "1e4_10_5", "digits")
FULL = (
    *("s1", "birch1", "birch2", "g2", "blobs_10", "blobs_100"),
    *(
        "1e4_2_5",
        "1e4_10_5",
        "unb 1e5_5_16",
        "1e5_20_20",
        "1e5_64_64",
        "digits",
        "china_16",
        "patch_8_16",
    ),
    *("adult", "S1", "Birch2"),
)
# Real sets of the clustering benchmark of Fränti and Sieranoja: their files and their k. Their
# coordinates are whole numbers below 2^20, which is public.
REAL = {"S1": ("s1.txt.gz", 15), "Birch2": ("birch2.txt.gz", 100)}


def opened(name: str, folder: Path | None) -> PointSet:
    """Return a set by its name or as PATH:CLUSTERS; real ones need the folder of the data."""
    if name in REAL:
        return real(name, folder)
    return adult(folder) if name == "adult" else point_set(name)


def real(name: str, folder: Path | None) -> PointSet:
    """Return a real set of two columns, brought to between 0 and 1 by its public range."""
    file, k = REAL[name]
    points = np.loadtxt(_found(file, folder)) / 2**20
    return PointSet(name, points, k, Schema.from_bounds(0, 1, n_columns=2))


def _found(file: str, folder: Path | None) -> Path:
    path = (folder or Path()) / file
    if not path.exists():
        raise DataError(f"There is no file '{path}'; name its folder with --data.")
    return path


def adult(folder: Path | None) -> PointSet:
    """Return the numeric columns of adult, each brought to between 0 and 1 by its public range."""
    names, *rows = read_records(_found("adult.csv.gz", folder))
    places = [names.index(name) for name in LAYOUTS["adult"].numeric]
    points = np.array([[row[place] for place in places] for row in rows], dtype=np.float64)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    return PointSet("adult", points, 8, Schema.from_bounds(0, 1, n_columns=len(places)))
