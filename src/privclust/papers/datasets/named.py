"""The sets that benchmarks know by name; every function here also takes the path of a file.

A file is found by its path, or by its name in a folder of data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from privclust.exceptions import DataError
from privclust.papers.datasets.categories import (
    CategorySet,
    read_categories,
    synth_a,
    synth_b,
    synth_c,
    synth_d,
)
from privclust.papers.datasets.matrices import MatrixSet, read_matrix
from privclust.papers.datasets.points import (
    PointSet,
    birch1_like,
    birch2_like,
    blobs,
    clump_set,
    digits,
    g2_like,
    image_patches,
    image_pixels,
    read_points,
    s_like,
    toy_set,
)
from privclust.papers.datasets.source_target import (
    SourceTarget,
    digit_pair,
    project_pair,
    read_pair,
    scale_pair,
    synthetic_1,
    synthetic_2,
    synthetic_3,
)

DIGIT_PAIRS = [(1, 7), (7, 1), (3, 8), (8, 3), (9, 4), (4, 9), (5, 2), (2, 5), (6, 9), (9, 6)]

POINT_SETS: dict[str, Callable[[], PointSet]] = {
    "1e4_2_5": lambda: clump_set("1e4_2_5", 10**4, 2, 5),
    "1e4_10_5": lambda: clump_set("1e4_10_5", 10**4, 10, 5),
    "over 1e5_2_15": lambda: clump_set("over 1e5_2_15", 10**5, 2, 15, width=0.6),
    "unb 1e5_5_16": lambda: clump_set("unb 1e5_5_16", 10**5, 5, 16, balanced=False),
    "over 1e5_10_10": lambda: clump_set("over 1e5_10_10", 10**5, 10, 10, width=0.6),
    "1e5_20_20": lambda: clump_set("1e5_20_20", 10**5, 20, 20),
    "1e5_64_64": lambda: clump_set("1e5_64_64", 10**5, 64, 64),
    "china_16": image_pixels,
    "patch_8_16": image_patches,
    "1e6_8_32": lambda: clump_set("1e6_8_32", 10**6, 8, 32),
    "digits": digits,
    "1e6_16_16": lambda: clump_set("1e6_16_16", 10**6, 16, 16),
    "s1": s_like,
    "birch1": birch1_like,
    "birch2": birch2_like,
    "g2": g2_like,
    "blobs_10": lambda: blobs(10),
    "blobs_100": lambda: blobs(100),
    "iris": lambda: toy_set("iris"),
    "wine": lambda: toy_set("wine"),
    "breast_cancer": lambda: toy_set("breast_cancer"),
}

SYNTHETIC_CATEGORIES: dict[str, Callable[[float, np.random.Generator], tuple[CategorySet, int]]] = {
    "Synth-A": synth_a,
    "Synth-B": synth_b,
    "Synth-C": synth_c,
    "Synth-D": synth_d,
}


def _digits(source: int, target: int) -> Callable[[int], SourceTarget]:
    return lambda seed: scale_pair(project_pair(digit_pair(source, target), seed))


SOURCE_TARGET_SETS: dict[str, Callable[[int], SourceTarget]] = {
    "Synthetic 1": lambda seed: scale_pair(synthetic_1(seed)),
    "Synthetic 2": lambda seed: scale_pair(synthetic_2(seed)),
    "Synthetic 3": lambda seed: scale_pair(synthetic_3(seed)),
    **{f"digits {s}→{t}": _digits(s, t) for s, t in DIGIT_PAIRS},
}


def point_set(name: str, n_clusters: int | None = None) -> PointSet:
    """Return a point set by name, or of a file.

    Parameters
    ----------
    name : str
        A name of ``POINT_SETS``, or a path, or a path and the number of clusters as ``PATH:K``.
    n_clusters : int or None
        How many clusters to look for in a file.
    """
    if name in POINT_SETS:
        return POINT_SETS[name]()
    path, _, number = name.partition(":")
    count = int(number) if number.isdigit() else n_clusters
    if count is None:
        known = ", ".join(POINT_SETS)
        raise DataError(f"{name!r} is none of {known}; write a file of points as PATH:CLUSTERS.")
    return read_points(path, count)


def matrix_set(name: str, folder: str | Path | None = None) -> MatrixSet:
    """Return the matrix of a file, given by its path or by its name in a folder."""
    path = _find_file(name, folder, (".npz", ".mat", ".csv", ".txt"))
    with _refusal_of(path, "a matrix of counts"):
        return read_matrix(path)


def category_set(name: str, folder: str | Path | None = None) -> CategorySet:
    """Return the table of a file, given by its path or by its name in a folder."""
    path = _find_file(name, folder, (".csv.gz", ".csv", ".data"))
    with _refusal_of(path, "a table with the columns of this set"):
        return read_categories(path)


@contextmanager
def _refusal_of(path: Path, kind: str) -> Iterator[None]:
    """Say in one sentence that a file holds something else than a reader expects."""
    try:
        yield
    except DataError:
        raise
    except (LookupError, ValueError, OSError) as error:
        raise DataError(f"'{path}' does not hold {kind}; put the right file there.") from error


def source_target_set(name: str, folder: str | Path | None = None) -> Callable[[int], SourceTarget]:
    """Return a function of a seed for a set by name, or for two parts of a file.

    Parameters
    ----------
    name : str
        A name of ``SOURCE_TARGET_SETS``, or ``FILE:SOURCE:TARGET`` with parts of a file as
        :func:`~privclust.papers.datasets.read_pair` has them.
    folder : str, Path or None
        The folder of files that are given by name.
    """
    if name in SOURCE_TARGET_SETS:
        return SOURCE_TARGET_SETS[name]
    path, *parts = name.split(":")
    if len(parts) != 2:
        known = ", ".join(SOURCE_TARGET_SETS)
        raise DataError(f"{name!r} is none of {known}; write a file as FILE:SOURCE:TARGET.")
    pair = read_pair(_find_file(path, folder, (".npz",)), *parts)
    return lambda seed: scale_pair(project_pair(pair, seed))


def _find_file(name: str, folder: str | Path | None, endings: tuple[str, ...]) -> Path:
    places = [Path(name)]
    if folder is not None:
        places += [Path(folder) / f"{name}{ending}" for ending in ("", *endings)]
    for place in places:
        if place.is_file():
            return place
    where = "" if folder is None else f" and none of that name in '{folder}'"
    raise DataError(f"There is no file '{name}'{where}.")
