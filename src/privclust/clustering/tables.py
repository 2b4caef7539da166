"""``Tables``: the raw noisy counts behind synthetic rows, as in a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats, Integers
from privclust.clustering.binned_columns import HistogramCounts, axes_of, histograms_from
from privclust.exceptions import ReleaseError

if TYPE_CHECKING:
    from privclust.release.release import Release


_LINES = tuple(field.name for field in fields(HistogramCounts))


@dataclass(frozen=True)
class Tables:
    """Histograms of all columns, groups of cells against numbers, and tables of some pairs."""

    histograms: HistogramCounts
    # (n_cells,): the column of each cell of the finest histograms, in the order of the schema.
    bin_columns: Integers
    bin_low: Floats  # (n_cells,): where these cells begin
    # (n_cells,): the bin of the column, from 0, that the cell belongs to in all tables.
    bin_codes: Integers
    # (n_released_cells,): the group of each released cell; -1 for one without rows, and if no
    # groups were asked about.
    group_of_cell: Integers
    # (n_groups, n_bins_of_numbers): how many rows nearest to a cell of the group are in each bin of
    # each number.
    group_counts: Floats
    group_counts_error: Floats  # (1,): the standard error of each
    # (n_pairs, 2): columns whose tables were asked for, those of a tree first.
    pairs: Integers
    # (n_pair_cells,): these tables one after the other, the bins of the first column in rows.
    pair_counts: Floats
    pair_counts_error: Floats  # (n_pairs,): the standard error of each count of a table

    def bins(self, n_columns: int) -> list[Integers]:
        """Return for each column the bins of its cells."""
        return [self.bin_codes[self.bin_columns == column] for column in range(n_columns)]

    def pair_tables(self, sizes: Sequence[int]) -> list[Floats]:
        """Return the tables of the pairs, given how many bins each column has."""
        shapes = [(sizes[i], sizes[j]) for i, j in self.pairs]
        ends = np.cumsum([height * width for height, width in shapes])[:-1]
        parts = np.split(self.pair_counts, ends) if shapes else []
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of a release."""
        lines = {f"histogram_{name}": getattr(self.histograms, name) for name in _LINES}
        return lines | {name: getattr(self, name) for name in _OWN}

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Tables | None:
        """Return the tables of a release; None if it has none."""
        if "histogram_counts" not in arrays:
            return None
        lines = HistogramCounts(*(arrays[f"histogram_{name}"] for name in _LINES))
        return cls(lines, *(arrays[name] for name in _OWN))


_OWN = tuple(field.name for field in fields(Tables))[1:]
TABLE_ARRAYS = (*(f"histogram_{name}" for name in _LINES), *_OWN)


def check_tables(release: Release) -> None:
    """Raise unless the tables of a release, if it has any, fit its columns and each other."""
    given = [name for name in TABLE_ARRAYS if name in release.arrays]
    if not given:
        return
    if len(given) < len(TABLE_ARRAYS):
        raise ReleaseError(f"Synthetic rows need the arrays {', '.join(TABLE_ARRAYS)}; add them.")
    tables = Tables.of(release.arrays)
    if tables is None or not _fits(tables, release):
        raise ReleaseError(
            "The tables of a release do not fit its columns or each other; correct them."
        )


def _fits(tables: Tables, release: Release) -> bool:
    lines, n_columns = tables.histograms, len(release.schema)
    whole = [lines.columns, lines.levels, tables.bin_columns, tables.bin_codes]
    whole += [tables.group_of_cell, tables.pairs]
    shaped = {len(getattr(lines, name)) for name in _LINES} == {len(lines.low)}
    shaped = shaped and len(tables.bin_columns) == len(tables.bin_low) == len(tables.bin_codes)
    shaped = shaped and all(array.dtype.kind == "i" for array in whole)
    shaped = shaped and tables.pairs.ndim == 2 and tables.pairs.shape[1:] == (2,)
    shaped = shaped and tables.group_of_cell.shape == (len(release.arrays["cells"]),)
    shaped = shaped and tables.group_counts.ndim == 2
    shaped = shaped and tables.group_counts_error.shape == (1,)
    if not shaped or tables.pair_counts_error.shape != (len(tables.pairs),):
        return False
    if (lines.low >= lines.high).any() or (lines.counts_error < 0).any():
        return False
    bins, every = tables.bins(n_columns), range(n_columns)
    if any(not len(codes) or set(codes) != {*range(codes.max() + 1)} for codes in bins):
        return False
    known = [len(lines.of(column, 0).low) for column in every]
    columns = {
        *lines.columns.tolist(),
        *tables.bin_columns.tolist(),
        *tables.pairs.ravel().tolist(),
    }
    if not all(known) or not columns <= {*every}:
        return False
    sizes = [int(codes.max()) + 1 for codes in bins]
    cells = sum(sizes[i] * sizes[j] for i, j in tables.pairs)
    axes, groups = axes_of(release.schema), len(tables.group_counts)
    finest = [len(found.mass) for found in histograms_from(lines, axes, 1.0)]
    if finest != [len(codes) for codes in bins]:
        return False
    width = sum(size for size, axis in zip(sizes, axes, strict=True) if axis.ordered)
    fits = cells == len(tables.pair_counts) and tables.group_of_cell.max(initial=-1) < groups
    return bool(fits and (not groups or tables.group_counts.shape[1] == width))
