"""Tables of categories: files as the UCI repository has them, and Synth-A to Synth-D.

As in the paper on DP-DILCA, numeric columns are cut into five k-means bins and a missing value
("?") becomes the commonest one. Both look at all rows, which are public here. For rows of people
declare ``"?"`` as a category and bins that are known beforehand instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.preprocessing import KBinsDiscretizer

from privclust._typing import Floats, Indices
from privclust.exceptions import DataError
from privclust.papers.datasets.formats import read_records, stem
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


_N_SYNTHETIC, _N_COLUMNS = 10_000, 11


@dataclass(frozen=True, eq=False)
class CategorySet:
    """A table of categories, its schema and the classes of its rows.

    Attributes
    ----------
    name : str
    rows : pyarrow.Table
    schema : Schema
    classes : ndarray of shape (n_rows,)
        Numbered from zero; all zero where none are known.
    """

    name: str
    rows: pa.Table
    schema: Schema
    classes: Indices

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(np.unique(self.classes))

    @property
    def n_values(self) -> int:
        """The number of categories of all columns."""
        facts = self.schema.columns.values()
        return sum(len(fact.labels) for fact in facts if not isinstance(fact, Box))

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a pandas data frame."""
        frame: pd.DataFrame = self.rows.to_pandas()
        return frame


@dataclass(frozen=True)
class Layout:
    """How a file of categories is laid out.

    Attributes
    ----------
    class_column : str, int or None
        The name or number of the column with the classes; ``None`` if there is none.
    header : bool
        Whether the first line has names; without it they are a1, a2, ...
    numeric : tuple of str
        Columns that are cut into bins.
    missing : str
        The sign of a missing value.
    """

    class_column: str | int | None = "class"
    header: bool = True
    numeric: tuple[str, ...] = ()
    missing: str = "?"


# Layouts by the name of the file; any other has a header and a column "class".
LAYOUTS = {
    "adult": Layout(
        numeric=(
            "age",
            "fnlwgt",
            "education-num",
            "capital-gain",
            "capital-loss",
            "hours-per-week",
        )
    ),
    "dermatology": Layout(numeric=("a34",)),
    "cmc": Layout(class_column=-1, header=False, numeric=("a1", "a4")),
    "nltcs": Layout(class_column=None, header=False),
}


def read_categories(
    path: str | Path, layout: Layout | None = None, *, n_bins: int = 5
) -> CategorySet:
    """Read a table of categories.

    Parameters
    ----------
    path : str or Path
        Text between commas, compressed by gzip or not.
    layout : Layout or None
        How the file is laid out; by default as ``LAYOUTS`` has it for the name of the file.
    n_bins : int, default=5
        Into how many k-means bins a numeric column is cut.
    """
    if not Path(path).exists():
        raise DataError(f"There is no file '{path}'.")
    layout = layout or LAYOUTS.get(stem(path), Layout())
    records = read_records(path)
    names = records[0] if layout.header else [f"a{i + 1}" for i in range(len(records[0]))]
    _check_columns(path, names, layout)
    table = np.array(records[1:] if layout.header else records)
    values = dict(zip(names, table.T, strict=True))
    labels = values.pop(_class_name(names, layout), np.zeros(len(table)))
    columns: dict[str, NDArray[Any]] = {}
    facts: dict[str, Fact] = {}
    for name, column in values.items():
        columns[name] = _fill_missing(column, layout.missing)
        if name in layout.numeric:
            columns[name] = columns[name].astype(np.float64)
            facts[name] = Bins(_k_means_edges(columns[name], n_bins))
        else:
            facts[name] = Categories(np.unique(columns[name]).tolist())
    classes = np.unique(labels, return_inverse=True)[1]
    return CategorySet(stem(path), pa.table(columns), Schema(facts), classes)


def _check_columns(path: str | Path, names: Sequence[str], layout: Layout) -> None:
    """Raise if a column that the layout names is not there."""
    named = [layout.class_column] if isinstance(layout.class_column, str) else []
    if absent := [name for name in (*named, *layout.numeric) if name not in names]:
        raise DataError(
            f"'{path}' has the columns {', '.join(names)}, but none called {' or '.join(absent)}; "
            "put the right file there, or describe this one by a Layout."
        )


def _class_name(names: Sequence[str], layout: Layout) -> str:
    if layout.class_column is None:
        return ""
    return (
        names[layout.class_column] if isinstance(layout.class_column, int) else layout.class_column
    )


def _fill_missing(column: NDArray[Any], missing: str) -> NDArray[Any]:
    """Replace missing values by the most common one; of several, the first in order."""
    values, counts = np.unique(column[column != missing], return_counts=True)
    return np.where(column == missing, values[counts.argmax()], column)


def _k_means_edges(numbers: Floats, bins: int) -> list[float]:
    cutter = KBinsDiscretizer(
        bins, encode="ordinal", strategy="kmeans", random_state=0, subsample=None
    )
    return list(map(float, cutter.fit(numbers[:, None]).bin_edges_[0]))


# The synthetic sets: 10 000 rows, the first column is the target, random columns fill up.
def synth_a(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Return three noisy copies of a balanced target, and the size of its right context."""
    target = _shuffle_columns(5000, rng)
    return _pad_rows("Synth-A", [target, *_copies(target, noise, 3, rng)], rng), 3


def synth_b(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Return three noisy copies of an unbalanced target, and the size of its right context."""
    target = _shuffle_columns(2000, rng)
    return _pad_rows("Synth-B", [target, *_copies(target, noise, 3, rng)], rng), 3


def synth_c(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Return three noisy copies, and two noisier ones that must stay out of the context.

    The share of ones is .3: in the paper's Table 2 the lines of Synth-C and Synth-D are swapped.
    """
    target = _shuffle_columns(3000, rng)
    copies = _copies(target, noise, 3, rng)
    return _pad_rows("Synth-C", [target, *copies, *_copies(target, 0.35, 2, rng)], rng), 3


def synth_d(noise: float, rng: np.random.Generator) -> tuple[CategorySet, int]:
    """Return one block of five: four columns that determine the target only together."""
    block = rng.permutation(np.repeat(np.arange(5), _N_SYNTHETIC // 5))
    columns = [_swap_values((block == part).astype(int), noise, rng) for part in range(5)]
    return _pad_rows("Synth-D", columns, rng), 4


def _copies(
    column: NDArray[Any], noise: float, count: int, rng: np.random.Generator
) -> list[NDArray[Any]]:
    return [_swap_values(column, noise, rng) for _ in range(count)]


def _swap_values(column: NDArray[Any], noise: float, rng: np.random.Generator) -> NDArray[Any]:
    places = rng.choice(len(column), round(noise * len(column)), replace=False)
    column = column.copy()
    column[places] = 1 - column[places]
    return column


def _shuffle_columns(ones: int, rng: np.random.Generator) -> NDArray[Any]:
    return rng.permutation(np.repeat([1, 0], [ones, _N_SYNTHETIC - ones]))


def _pad_rows(name: str, columns: list[NDArray[Any]], rng: np.random.Generator) -> CategorySet:
    while len(columns) < _N_COLUMNS:
        columns.append(rng.integers(0, 2, _N_SYNTHETIC))
    rows = pa.table({f"x{i}": column for i, column in enumerate(columns)})
    schema = Schema({column: Categories([0, 1]) for column in rows.column_names})
    return CategorySet(name, rows, schema, np.zeros(_N_SYNTHETIC, dtype=np.intp))
