"""The grid of a density: public cells of equal size, and the two questions that fill it.

All cells together are one table, in which a row stands in one cell, so that they cost no more than
one count. Two columns are a pair of cut columns. Of three, the first is cut, and the other two are
one attribute: which point of a plane of points is nearest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Indices
from privclust.budget import Share
from privclust.clustering.binned_columns import Axis
from privclust.clustering.grid import grid_points
from privclust.clustering.missing import MissingCounts, ask_missing, split_for_missing
from privclust.data.points.door import PointRows
from privclust.data.public import Noisy
from privclust.data.table.public import CellGroups, Cut
from privclust.data.table.view import TableView
from privclust.density.task import USUAL_LEAST
from privclust.fitting import Run
from privclust.notes import Note
from privclust.schema.schema import Schema

# Of the budget, for the number of rows; it sets the number of cells.
_COUNT = 0.03
# The rows of a cell, in errors of a count, if the rows filled the bounds. However little
# noise there is, few rows bear few cells: chance counts as such an error too.
_ROWS_OF_A_CELL, _CHANCE = math.sqrt(2), 0.7
# Cells along an axis, by the number of columns. For smaller clusters than the usual ones there are
# as many times more cells, up to twice as many along an axis, as long as a cluster's rows stand out
# by this number of errors.
_FEWEST, _MOST, _FINER, _CLEAR = 4, {1: 256, 2: 128, 3: 32}, 2, 5.0
# If nobody says how small clusters are, two columns get a first look for this part of the budget.
# Where rows lie in places narrower than the cells, as the towns of a map do, counts of neighbours
# have little in common: less than these shares of what a count has with itself, by the number of
# cells along an axis, and by this number of errors of the noise. Then this is the smallest cluster.
# Cells with more than this share of the rows do not count: a value of many rows makes no map.
_LOOK, _ALIKE, _OF_SIDES, _SURE = 0.08, (0.45, 0.65), (32, 64), 2.0
_SMALL, _CROWDED = 0.001, 0.03

_HIDDEN = Note(
    "clusters-hidden",
    "There are too few rows for a grid at this budget, so that no clusters can be seen; raise "
    "epsilon, ask about fewer columns, or ask plan() what to expect.",
)


@dataclass(frozen=True)
class Grid:
    """Cells of equal size over columns of numbers."""

    low: Floats  # where the first cell of each column begins
    widths: Floats  # of a cell, by column
    sides: tuple[int, ...]  # the number of cells along each column

    @classmethod
    def over(cls, schema: Schema, side: int) -> Grid:
        """Return about ``side`` cells along each column; whole numbers are never cut apart.

        If a cell had two of them and the next had three, rows spread evenly would look like waves.
        """
        axes = [Axis.of(fact) for fact in schema.columns.values()]
        lengths = np.array([axis.high / 2 - axis.low / 2 for axis in axes]) * 2
        whole = np.array([axis.whole for axis in axes])
        widths = np.where(whole, np.ceil(lengths / side), lengths / side)
        sides = tuple(int(number) for number in np.ceil(lengths / widths - 1e-9))
        return cls(np.array([axis.low for axis in axes]), widths, sides)

    @cached_property
    def cuts(self) -> tuple[Floats, ...]:
        """The edges between the cells of each column."""
        columns = zip(self.low, self.widths, self.sides, strict=True)
        return tuple(low + width * np.arange(1, side) for low, width, side in columns)

    @property
    def axes(self) -> tuple[Floats, ...]:
        """The middles of the cells along each column."""
        columns = zip(self.low, self.widths, self.sides, strict=True)
        return tuple(low + width * (np.arange(side) + 0.5) for low, width, side in columns)

    @property
    def middles(self) -> Floats:
        """The middles of all cells, the last column running fastest."""
        return grid_points(self.axes)

    def spread(self, cells: Indices, rng: np.random.Generator) -> Floats:
        """Return a point drawn evenly from each of these cells, numbered as :attr:`middles`."""
        places = np.stack(np.unravel_index(cells, self.sides), axis=-1)
        return np.asarray(self.low + self.widths * (places + rng.random(places.shape)))


@dataclass(frozen=True)
class CountedGrid:
    """What a fit releases: noisy counts of the cells, and the noisy number of rows."""

    grid: Grid
    counts: Floats  # in the shape of the grid
    counts_error: float
    n_rows: float
    n_rows_error: float
    least: float = USUAL_LEAST  # the smallest share of the rows that is a cluster
    notes: tuple[Note, ...] = ()  # that there are too few rows, if so
    missing: MissingCounts | None = None  # how many values rules stood for, if that was asked


def ask_density(
    door: PointRows, run: Run, least: float | None, missing_share: float = 0
) -> CountedGrid:
    """Ask for the number of rows, and for the counts of as many cells as it bears.

    A cluster holds at least the share ``least`` of the rows; a first look decides if it is None.
    """
    whole = door.cut(run.meter, run.seed, [_uncut(0)])
    budget = _less_noisy(whole, run.budget.whole)
    budget, for_missing = split_for_missing(budget, door.schema, missing_share)
    for_count = budget.take(_COUNT)
    number = whole.ask_count("number of rows", for_count)
    left = budget if whole.n_rows_is_public else budget.remainder(for_count)
    n_rows, columns = max(float(number.value[0]), 1.0), len(door.schema)
    if least is None:
        least, left = _ask_least(door, run, left, n_rows)
    error, bearable = _bearable(whole, left, n_rows, columns)
    finer = max(USUAL_LEAST / max(least, _CLEAR * error / n_rows), 1.0) ** (1 / columns)
    side = round(min(bearable * finer, _MOST[columns] * min(finer, _FINER)))
    grid = Grid.over(door.schema, max(side, _FEWEST))
    counts = _ask_counts(door, run, grid, left)
    return CountedGrid(
        grid,
        counts.value.reshape(grid.sides),
        counts.standard_error,
        n_rows,
        number.standard_error,
        least,
        (_HIDDEN,) if round(bearable) <= _FEWEST else (),
        ask_missing(door, run, for_missing),
    )


def _bearable(view: TableView, share: Share, n_rows: float, columns: int) -> tuple[float, float]:
    """Return the error of a count, and how many cells along an axis the rows bear."""
    error = math.hypot(view.table_error(share, 1), _CHANCE)
    return error, (n_rows / (_ROWS_OF_A_CELL * error)) ** (1 / columns)


def _ask_least(door: PointRows, run: Run, share: Share, n_rows: float) -> tuple[float, Share]:
    """Return the smallest share of the rows that is a cluster, and what is left to spend.

    In three columns cells are wide for any clusters, and neighbours never have much in common.
    """
    look, columns = share.take(_LOOK), len(door.schema)
    left, view = share.remainder(look), door.cut(run.meter, run.seed, [_uncut(0)])
    side = round(min(_bearable(view, left, n_rows, columns)[1], _MOST[columns]))
    if columns != 2 or side <= _FEWEST:
        return USUAL_LEAST, share
    grid = Grid.over(door.schema, side)
    seen = _ask_counts(door, run, grid, look, "first look at cells")
    table = seen.value.reshape(grid.sides)
    return (_SMALL if _too_wide(table, seen.standard_error, n_rows) else USUAL_LEAST), left


def _too_wide(table: Floats, error: float, n_rows: float) -> bool:
    """Return whether rows lie in places narrower than the cells of a noisy table."""
    table = np.where(table > _CROWDED * n_rows, 0, table)
    alone = float((table**2).sum()) - table.size * error**2 - n_rows  # without noise and chance
    beside = max(float((table[1:] * table[:-1]).sum()), float((table[:, 1:] * table[:, :-1]).sum()))
    share = float(np.interp(max(table.shape), _OF_SIDES, _ALIKE))
    # The square of Laplace noise has five times the variance that a product of two has.
    doubt = error**2 * math.sqrt(table.size * (5 * share**2 + 1))
    return share * alone - beside > _SURE * doubt


def _less_noisy(view: TableView, budget: Share) -> Share:
    """Return the budget, or pure ε in its place where that keeps the promise with less noise."""
    pure = view.pure_share(budget)
    if pure is None or view.table_error(pure, 1) > view.table_error(budget, 1):
        return budget
    return pure


def _ask_counts(
    door: PointRows, run: Run, grid: Grid, share: Share, name: str = "counts of cells"
) -> Noisy:
    seed, cuts = run.another_seed(), _cuts_of(grid)
    if len(cuts) == 1:
        return door.cut(run.meter, seed, cuts).ask_histograms(name, share)
    plane = [_plane_of(door, grid)] if len(cuts) > 2 else []
    kept = cuts[:1] if plane else cuts
    tables = door.cut(run.meter, seed, kept, [(0, 1)], plane)
    asked = tables.ask_pair_tables(name, [(0, 1)], share)
    return Noisy(asked.cells, asked.standard_error)


def _cuts_of(grid: Grid) -> Sequence[Cut]:
    return [Cut(j, edges, np.arange(len(edges) + 1)) for j, edges in enumerate(grid.cuts)]


def _uncut(column: int) -> Cut:
    return Cut(column, np.empty(0), np.zeros(1, np.int64))


def _plane_of(door: PointRows, grid: Grid) -> CellGroups:
    """Return the second and third column as one attribute: each cell of theirs is a point."""
    points = grid_points((door.domain.center[:1], *grid.axes[1:]))
    return CellGroups(door.domain.to_unit_ball(points), np.arange(len(points)))
