"""Exact counts of category codes: pair tables, entropy sums, scores of contexts.

All numbers here are whole. Entropies are sums of ``F(n) = n log2 n`` over the cells of a
table; :class:`EntropyScale` is a whole-numbered F whose steps rise with n and stop rising at a
public number of rows, so that what one row can change is known exactly.

All of them are sums over the rows. They are counted when first needed and kept until the view is
dropped at the end of a fit, so that a fit with many questions reads the rows once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Integers
from privclust.data.engines.base import CountedSum, PerRow, current_engine
from privclust.data.engines.local import LocalEngine
from privclust.data.rows import RowSource
from privclust.data.table.codes import AttributeCodes, CategoryCoder
from privclust.data.table.cut import CutCoder
from privclust.data.table.public import PairLayout

# Units of an entropy sum in one bit.
BIT = 2**20

# Counts below this have their own step of F; above, 2^12 counts in each doubling do.
_FINE = 2**16
_COARSE_BITS = 12

# Cells of one combined table; more are renumbered by the rows that occur.
_MOST_CELLS = 2**22

# Codes that are counted at a time, so that they stay in the cache.
_PIECE = 2**18


def pair_counts(codes: Codes, layout: PairLayout) -> Integers:
    """Return the tables of all pairs of ``layout``, counted over the rows of ``codes``.

    ``codes``: (n_rows, n_attributes).
    """
    columns = np.ascontiguousarray(codes.T, dtype=np.intp)
    counts = np.empty(layout.n_cells, np.int64)
    for place, (i, j) in enumerate(layout.pairs):
        cells = layout.sizes[i] * layout.sizes[j]
        joint = columns[i] * layout.sizes[j] + columns[j]
        counts[layout.starts[place] : layout.starts[place + 1]] = np.bincount(
            joint, minlength=cells
        )
    return counts


def count_cells(codes: Codes, sizes: Sequence[int]) -> Integers:
    """Return the number of rows of each value of each attribute, one after another."""
    parts = [
        np.bincount(column.astype(np.intp), minlength=size)
        for column, size in zip(codes.T, sizes, strict=True)
    ]
    return np.concatenate(parts).astype(np.int64)


@dataclass(frozen=True)
class PairTables:
    """The tables of all pairs of a layout."""

    layout: PairLayout

    def __call__(self, codes: Codes) -> Integers:
        """Return what the rows of a piece add."""
        return pair_counts(codes, self.layout)


@dataclass(frozen=True)
class ValueCounts:
    """The number of rows of each value of each attribute."""

    sizes: tuple[int, ...]

    def __call__(self, codes: Codes) -> Integers:
        """Return what the rows of a piece add."""
        return count_cells(codes, self.sizes)


class EntropyScale:
    """Whole-numbered ``n log2 n`` in units of 2^-20 bits, made for about ``n_rows`` rows.

    F(0) = 0, and the steps F(n + 1) - F(n) are whole numbers that never fall as n grows and never
    exceed ``steepest``, whatever n. Up to ``n_rows`` they are those of n log2 n, rounded; beyond,
    F is linear. So adding a row changes a sum of F over the cells of a table by a
    whole number between 0 and ``steepest``, for every table: the number of rows that the scale is
    made for affects only accuracy.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = max(2, n_rows)
        self._starts = _starts(self.n_rows)
        widths = np.diff(self._starts)
        middles = self._starts[:-1] + (widths - 1) / 2
        slopes = np.rint(BIT * (_n_log_n(middles + 1) - _n_log_n(middles))).astype(np.int64)
        self._slopes = np.maximum.accumulate(slopes)
        self._values = np.concatenate([[0], np.cumsum(self._slopes * widths)])[:-1]

    @property
    def steepest(self) -> int:
        """The largest step: the most that one row can change."""
        return int(self._slopes[-1])

    def __call__(self, counts: Integers) -> Integers:
        """Return F of each count."""
        if self.n_rows <= _FINE:  # every count has a step of its own
            places = np.minimum(counts, len(self._slopes) - 1)
        else:
            places = np.searchsorted(self._starts[:-1], counts, side="right") - 1
        values: Integers = (
            self._values[places] + (counts - self._starts[places]) * self._slopes[places]
        )
        return values


def _starts(n_rows: int) -> Integers:
    """Return where the pieces of F begin, and where the last one ends."""
    parts = [np.arange(min(n_rows, _FINE) + 1, dtype=np.int64)]
    low = _FINE
    while low < n_rows:
        step = low >> _COARSE_BITS
        parts.append(np.arange(low + step, 2 * low + step, step, dtype=np.int64))
        low *= 2
    starts = np.concatenate(parts)
    # Rounded up to a whole piece, so that the scale reaches the number of rows.
    return starts[: int(np.searchsorted(starts, n_rows)) + 1]


def _n_log_n(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(n * np.log2(np.maximum(n, 1)))


def subset_sums(
    codes: Codes, sizes: Sequence[int], size: int, scale: EntropyScale
) -> dict[tuple[int, ...], int]:
    """Return the sum of F over the table of every subset of ``size`` and ``size + 1`` attributes.

    ``codes``: (n_rows, n_attributes).
    """
    columns = np.ascontiguousarray(codes.T, dtype=np.intp)
    sums: dict[tuple[int, ...], int] = {}
    for chosen, joint, cells in _joint_codes(columns, sizes, size):
        sums[chosen] = int(scale(np.bincount(joint, minlength=cells)).sum())
        later = range(chosen[-1] + 1, len(sizes))
        larger = [(*chosen, attribute) for attribute in later]
        sums.update(
            zip(larger, _sums_with(joint, cells, columns, sizes, later, scale), strict=True)
        )
    return sums


def _joint_codes(
    columns: NDArray[np.intp], sizes: Sequence[int], size: int
) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp], int]]:
    """Yield every subset in order with its combined codes and their number, sharing prefixes."""
    prefix: list[tuple[NDArray[np.intp], int]] = []
    last: tuple[int, ...] = ()
    for chosen in combinations(range(len(sizes)), size):
        kept = 0
        while kept < len(last) and last[kept] == chosen[kept]:
            kept += 1
        del prefix[kept:]
        for attribute in chosen[kept:]:
            if prefix:
                prefix.append(_combine_codes(*prefix[-1], columns[attribute], sizes[attribute]))
            else:
                prefix.append((columns[attribute], sizes[attribute]))
        last = chosen
        yield chosen, *prefix[-1]


def _combine_codes(
    joint: NDArray[np.intp], cells: int, column: NDArray[np.intp], size: int
) -> tuple[NDArray[np.intp], int]:
    joint, cells = joint * size + column, cells * size
    if cells <= _MOST_CELLS:
        return joint, cells
    values, renumbered = np.unique(joint, return_inverse=True)
    return renumbered, len(values)


def _sums_with(
    joint: NDArray[np.intp],
    cells: int,
    columns: NDArray[np.intp],
    sizes: Sequence[int],
    later: range,
    scale: EntropyScale,
) -> Iterator[int]:
    """Yield the sum of F for the combined codes with each later attribute, several at a time."""
    group: list[int] = []
    for attribute in later:
        group.append(attribute)
        full = len(group) * len(joint) >= _PIECE or sum(sizes[a] for a in group) * cells >= _PIECE
        if full or attribute == later[-1]:
            yield from _group_sums(joint, cells, columns, sizes, group, scale)
            group = []


def _group_sums(
    joint: NDArray[np.intp],
    cells: int,
    columns: NDArray[np.intp],
    sizes: Sequence[int],
    group: list[int],
    scale: EntropyScale,
) -> list[int]:
    widths = np.array([sizes[attribute] for attribute in group], np.intp)
    ends = np.cumsum(widths * cells)
    starts = ends - widths * cells
    places = joint * widths[:, None] + columns[group] + starts[:, None]
    counts = np.bincount(places.ravel(), minlength=int(ends[-1]))
    sums: list[int] = np.add.reduceat(scale(counts), starts).tolist()
    return sums


# The exact counts that a private table answers from; nothing here leaves ``privclust.data``.


class ExactCounts:
    """Exact tables of the rows of a source.

    ``layout``: the pairs that may be asked about; of single attributes only all pairs or none.
    """

    def __init__(
        self, source: RowSource, coder: CategoryCoder | CutCoder, layout: PairLayout
    ) -> None:
        self._source, self._layout = source, layout
        self._encode = AttributeCodes(coder)
        self._rows = current_engine().open(source, self._encode)
        self._tables: CountedSum[Integers] | None = None
        self._codes: Codes | None = None
        self._sums: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}

    def n_rows(self) -> int:
        """Return the number of rows, which is counted apart from the tables."""
        return self._count().n_rows

    def table(self, chosen: tuple[int, ...]) -> Integers:
        """Return the table of no attribute, of one or of a pair, in the order given."""
        if not chosen:
            return np.array([self.n_rows()], np.int64)
        if len(chosen) == 1:
            if not self._layout.pairs:
                start = sum(self._layout.sizes[: chosen[0]])
                return self._count().total[start : start + self._layout.sizes[chosen[0]]]
            return np.asarray(self.table((chosen[0], 0 if chosen[0] else 1)).sum(axis=1))
        first, second = chosen
        return self._layout.table(self._count().total, (first, second)).astype(np.int64)

    def conditional(self, scale: EntropyScale, target: int, given: int) -> int:
        """Return -N H(target | given) in units of the scale."""
        joint = scale(self.table((target, given))).sum()
        return int(joint - scale(self.table((given,))).sum())

    def context_scores(
        self, sets: Sequence[tuple[int, ...]], scale: EntropyScale, target: int
    ) -> list[int]:
        """Return -N H(target | set) of sets of other attributes, all of one size and rising."""
        sums = self._subset_sums(len(sets[0]), scale)
        return [sums[tuple(sorted((*chosen, target)))] - sums[chosen] for chosen in sets]

    def _subset_sums(self, size: int, scale: EntropyScale) -> dict[tuple[int, ...], int]:
        """Return the sums of F for all sets of ``size`` and ``size + 1`` attributes."""
        key = size, scale.n_rows
        if key not in self._sums:
            self._sums[key] = subset_sums(self._all_codes(), self._layout.sizes, size, scale)
        return self._sums[key]

    def _count(self) -> CountedSum[Integers]:
        """Return the tables of all pairs or, where there are none, the histograms."""
        if self._tables is None:
            pairs = bool(self._layout.pairs)
            of = PairTables(self._layout) if pairs else ValueCounts(self._layout.sizes)
            self._tables = self._rows.sum(of)
        return self._tables

    def _all_codes(self) -> Codes:
        """Return the codes of all rows: sets of many attributes have too many cells to keep.

        They are read on this machine whatever the engine, because rows are not sent.
        """
        if self._codes is None:
            gathered = LocalEngine(0).open(self._source, self._encode).sum(_codes).total
            self._codes = np.concatenate(gathered.parts)
        return self._codes


def _codes(codes: Codes) -> PerRow:
    return PerRow((codes,))
