"""Private bounds: the magnitude of the numbers of each column, then their range.

Two histograms, each of all columns at once, show them. The first has a cell for each signed power
of two, so that it finds numbers of any size; the second cuts what the first has found into equal
cells. A range is the smallest one that leaves out at most a declared share of the rows, as far as
they stand out from the noise. Everything here is computed from noisy answers and public facts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Mask
from privclust.budget import Share
from privclust.data.numbers.public import POWERS, ZERO_CELL, ColumnCounts
from privclust.data.numbers.view import NumbersView
from privclust.data.public import Noisy
from privclust.distributions import quantile
from privclust.notes import Note

# Which noisy cells surely have rows, and the smallest run of cells with most of them.

# The longest run of cells that are tested together.
_TOGETHER = 1, 2, 4


def occupied_cells(cells: Floats, largest_noise: float, mirror: int | None = None) -> Mask:
    """Return which cells stand out from the noise, alone or with their neighbours.

    ``cells``: (n_cells,). ``largest_noise``: a bound that the noise of all cells likely respects.
    The noise of L cells together is then unlikely to exceed √L times as much, because sums have
    lighter tails. ``mirror``: the cell of zero: those at equal distances from it are also tested
    together.
    """
    found = np.zeros(len(cells), bool)
    for length in _TOGETHER:
        least = largest_noise * math.sqrt(length)
        left = np.where(found, 0, cells)
        (starts,) = np.nonzero(np.convolve(left, np.ones(length), "valid") > least)
        for start in starts:
            found[start : start + length] = True
        if mirror is None:
            continue
        left = np.where(found, 0, cells)
        both = left[mirror + 1 :] + left[:mirror][::-1]
        sums = np.convolve(both, np.ones(length), "valid")
        for start in np.nonzero(sums > math.sqrt(2) * least)[0]:
            found[mirror + 1 + start : mirror + 1 + start + length] = True
            found[mirror - start - length : mirror - start] = True
    return found


def smallest_run(counts: Floats, edges: Floats, wanted: float) -> tuple[int, int]:
    """Return the first and last cell of the narrowest run with a given number of rows.

    If there is none, return the whole run between cells with rows. The cells are between ``edges``.
    """
    (some,) = np.nonzero(counts)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    best, narrowest = (int(some[0]), int(some[-1])), math.inf
    first = 0
    for last in range(len(counts)):
        while sums[last + 1] - sums[first] >= wanted and first <= last:
            width = float(edges[last + 1] - edges[first])
            if width < narrowest:
                best, narrowest = (first, last), width
            first += 1
    return best


def is_covered(
    cells: Floats, run: tuple[int, int], wanted: float, error: float, wanted_error: float
) -> bool:
    """Return whether a run leaves out no more rows than the noise may hide.

    ``cells``: (n_cells,). ``error``, ``wanted_error``: the standard errors of a count and of what
    is wanted.
    """
    first, last = run
    inside = float(cells[first : last + 1].sum())
    return wanted - inside <= math.hypot(error * math.sqrt(last - first + 1), wanted_error)


def grow_until_covered(
    cells: Floats, run: tuple[int, int], wanted: float, error: float, wanted_error: float
) -> tuple[int, int]:
    """Return a run, grown on both sides until it is covered or there are no more cells."""
    first, last = run
    while first > 0 or last < len(cells) - 1:
        if is_covered(cells, (first, last), wanted, error, wanted_error):
            break
        first, last = max(first - 1, 0), min(last + 1, len(cells) - 1)
    return first, last


def median_of(counts: Floats, edges: Floats) -> float:
    """Return about the median of rows that are spread evenly within noisy cells."""
    sums = np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0))])
    if not sums[-1] > 0:
        return float(edges[0] / 2 + edges[-1] / 2)
    return float(np.interp(sums[-1] / 2, sums, edges))


# What a run of private bounds releases: a range of every column, and its number of rows.


@dataclass(frozen=True)
class Range:
    """The range of one column."""

    # It is infinite on both sides if noise hides the column.
    low: float
    high: float
    # The noisy number of rows within it, and its standard error.
    inside: float
    inside_error: float
    # The same for rows whose number is missing or not finite.
    missing: float
    missing_error: float
    # About the middle one of its numbers, by the noisy counts.
    median: float = 0.0

    @property
    def found(self) -> bool:
        """Whether any number of the column stands out from the noise."""
        return bool(np.isfinite(self.high))


@dataclass(frozen=True)
class BoundsResult:
    """The ranges of all columns, in their order."""

    ranges: tuple[Range, ...]
    # The noisy number of rows.
    n_rows: float
    n_rows_error: float
    # Of columns that noise hides, and of bounds that leave out more than was declared.
    notes: tuple[Note, ...] = ()

    @property
    def found(self) -> Mask:
        """Which columns have a range."""
        return np.array([found.found for found in self.ranges])

    def column_of(self, name: str) -> Floats:
        """Return one number of every range."""
        return np.array([getattr(found, name) for found in self.ranges], np.float64)


_COUNT, _SIZES, _RANGES = 0.1, 0.4, 0.5
_FEWEST_CELLS, _MOST_CELLS = 8, 64
# The chance that the noise of any empty cell of a fit passes for rows.
_MISTAKEN = 0.002
_OPPOSITE = 6  # powers of two searched for rows of the other sign
_LARGEST = 1e150  # the limits of a Box
_ENDS = np.concatenate([[-_LARGEST], POWERS, [_LARGEST]])


@dataclass(frozen=True)
class _RangeQuestions:
    """What all columns share: the view, the noisy number of rows, and the share to leave out."""

    view: NumbersView
    n_rows: Noisy
    outside_share: float

    def rows_to_cover(self, missing: float) -> float:
        """Return how many rows of a column the range should cover."""
        with_numbers = max(float(self.n_rows.value[0]) - max(missing, 0.0), 1.0)
        return (1 - self.outside_share) * with_numbers

    def errors(self, counted: ColumnCounts) -> tuple[float, float]:
        """Return the standard errors of a cell, and of how many rows are wanted."""
        error = counted.standard_error
        return error, math.hypot(error, self.n_rows.standard_error)

    def largest_noise(self, share: Share, n_columns: int, n_cells: int) -> float:
        """Return a bound that the noise of all these cells likely respects."""
        noise = self.view.cell_noise(share, n_columns)
        return quantile(noise, _MISTAKEN / (n_cells * n_columns))


def ask_bounds(view: NumbersView, budget: Share, outside_share: float) -> BoundsResult:
    """Find a range of every column of ``view`` within ``budget``."""
    for_count, for_sizes, for_ranges = budget.split([_COUNT, _SIZES, _RANGES])
    asked = _RangeQuestions(view, view.ask_count("number of rows", for_count), outside_share)
    columns = range(view.n_columns)
    sizes = view.ask_histograms("sizes of numbers", dict.fromkeys(columns, POWERS), for_sizes)
    rough = _ask_rough_ranges(asked, sizes, for_sizes)
    edges = _equal_cells(asked, sizes, rough, for_ranges)
    ranges = {column: _whole_range(sizes, column, rough.get(column)) for column in columns}
    if edges:
        fine = view.ask_histograms("ranges of numbers", edges, for_ranges)
        ranges |= {
            column: _ask_narrow_ranges(asked, fine, column, cuts, for_ranges)
            for column, cuts in edges.items()
        }
    n_rows, error = float(asked.n_rows.value[0]), asked.n_rows.standard_error
    return BoundsResult(tuple(ranges[column] for column in columns), n_rows, error)


def _ask_rough_ranges(
    asked: _RangeQuestions, sizes: ColumnCounts, share: Share
) -> dict[int, tuple[int, int]]:
    """Return the first and the last power of two of the columns that stand out from the noise."""
    noise = asked.largest_noise(share, len(sizes.cells), len(POWERS) + 1)
    found = {}
    for column, cells in sizes.cells.items():
        counts = np.where(occupied_cells(cells, noise, mirror=ZERO_CELL), cells, 0)
        if counts.any():
            run = smallest_run(counts, _ENDS, (1 - asked.outside_share) * float(counts.sum()))
            wanted = asked.rows_to_cover(sizes.missing[column])
            if not is_covered(cells, run, wanted, *asked.errors(sizes)):
                run = _widen(cells, run, sizes.standard_error)
            found[column] = run
    return found


def _widen(cells: Floats, run: tuple[int, int], error: float) -> tuple[int, int]:
    """Return a run widened for rows that noise hides.

    Towards zero the smaller powers add almost nothing to the range; away from it the next one
    doubles the range, which the second histogram undoes if no rows are there.
    """
    first, last = run
    top, bottom = last + (last > ZERO_CELL), first - (first < ZERO_CELL)
    if first >= ZERO_CELL:
        bottom = _other_side(cells, top, error)
    elif last <= ZERO_CELL:
        top = 2 * ZERO_CELL - _other_side(cells[::-1], 2 * ZERO_CELL - bottom, error)
    return max(bottom, 0), min(top, len(cells) - 1)


def _other_side(cells: Floats, top: int, error: float) -> int:
    """Return the cell opposite to the top one if rows are likely there, else that of zero."""
    opposite = max(2 * ZERO_CELL - top, 0)
    beyond = cells[opposite : min(opposite + _OPPOSITE, ZERO_CELL)]
    likely = float(beyond.sum()) > 2 * error * math.sqrt(_OPPOSITE)
    return opposite if likely else ZERO_CELL


def _ends(run: tuple[int, int]) -> tuple[float, float]:
    """Return the lower and upper end of a run of powers of two."""
    first, last = run
    low = -_LARGEST if first == 0 else 0.0 if first == ZERO_CELL else float(POWERS[first - 1])
    high = _LARGEST if last == len(POWERS) else 0.0 if last == ZERO_CELL else float(POWERS[last])
    return (low, high) if low < high else (0.0, 1.0)  # only zeros


def _equal_cells(
    asked: _RangeQuestions, sizes: ColumnCounts, rough: dict[int, tuple[int, int]], share: Share
) -> dict[int, Floats]:
    """Return edges of equal cells, as many as still distinguish rows from noise."""
    cut = {column: run for column, run in rough.items() if _is_divisible(*run)}
    edges = {}
    for column, run in cut.items():
        noise = asked.largest_noise(share, len(cut), _MOST_CELLS)
        rows = asked.rows_to_cover(sizes.missing[column])
        affordable = np.clip(rows / (2 * noise), _FEWEST_CELLS, _MOST_CELLS)
        n_cells = 2 ** int(np.log2(affordable))  # so that edges are short binary fractions
        edges[column] = np.linspace(*_ends(run), n_cells + 1)
    return edges


def _is_divisible(first: int, last: int) -> bool:
    """Return whether a Box can have the ends of a run, and the run has more than zeros."""
    return first > 0 and last < len(POWERS) and not first == last == ZERO_CELL


def _whole_range(sizes: ColumnCounts, column: int, run: tuple[int, int] | None) -> Range:
    """Return the range that the first histogram shows, or none."""
    error = sizes.standard_error
    if run is None:
        return Range(-math.inf, math.inf, 0.0, error, sizes.missing[column], error)
    inside = float(sizes.cells[column][run[0] : run[1] + 1].sum())
    errors = error * math.sqrt(run[1] - run[0] + 1), error
    low, high = _ends(run)
    counts = sizes.cells[column][run[0] : run[1] + 1]
    median = median_of(counts, np.clip(_ENDS[run[0] : run[1] + 2], low, high))
    return Range(low, high, inside, errors[0], sizes.missing[column], errors[1], median)


def _ask_narrow_ranges(
    asked: _RangeQuestions, fine: ColumnCounts, column: int, edges: Floats, share: Share
) -> Range:
    """Return the smallest range of equal cells that leaves out at most the declared share."""
    cells, missing, error = fine.cells[column], fine.missing[column], fine.standard_error
    noise = asked.largest_noise(share, len(fine.cells), len(cells))
    counts = np.where(occupied_cells(cells, noise), cells, 0)
    inner, run = counts[1:-1], (0, len(edges) - 2)
    if inner.any():
        most = (1 - asked.outside_share) * float(counts.sum())
        run = smallest_run(inner, edges, most)
        run = grow_until_covered(
            cells[1:-1], run, asked.rows_to_cover(missing), *asked.errors(fine)
        )
    first, last = run
    inside = float(cells[first + 1 : last + 2].sum())
    errors = error * math.sqrt(last - first + 1), error
    low, high = float(edges[first]), float(edges[last + 1])
    median = median_of(inner[first : last + 1], edges[first : last + 2])
    return Range(low, high, inside, errors[0], missing, errors[1], median)
