"""A summary with tables: cells, histograms of all columns, and trees of pairs that cells miss.

What synthetic rows are made of, asked in the order of ``ask_with_tables``. Edges, bins, groups and
what is expected of a table depend on earlier answers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from privclust._typing import Floats, Integers
from privclust.budget import Share
from privclust.clustering.binned_columns import (
    Histogram,
    HistogramCounts,
    axes_of,
    divided_cells,
    histograms_from,
)
from privclust.clustering.result import Cells, SummaryResult
from privclust.clustering.spread import MEAN_ERROR, Spread
from privclust.clustering.summarise import Overview
from privclust.clustering.synthetic import SyntheticModel
from privclust.clustering.tables import Tables
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.door import PointRows
from privclust.data.public import Noisy
from privclust.data.table.public import CellGroups, Cut
from privclust.data.table.view import TableView
from privclust.fitting import Run
from privclust.notes import Note, signal_of
from privclust.schema.coordinates import Column, Coordinates
from privclust.schema.schema import Schema

_COUNT = 0.02
# Of what is left: the least for histograms, and of the rest for cells, groups, choice and tables.
_WITH_DELTA = 0.12, (0.68, 0.09, 0.05, 0.18)
_PURE = 0.15, (0.62, 0.12, 0.06, 0.20)
_MOST_FOR_HISTOGRAMS = 0.35
# Histograms are meant to be off by this part of the rows; beyond the second, with a quarter of the
# budget, there are too few rows for tables, and cells and histograms share it.
_GOAL, _TOO_FEW, _VALUES = 0.015, 0.035, 16
_LEVELS = 0.8, 0.13, 0.07
_MOST_BINS, _MOST_CATEGORIES, _MOST_GROUPS = 24, 64, 32
# Rows to a bin and to a group, in errors; errors below which categories are pooled.
_PER_BIN, _PER_GROUP, _RARE = 4.0, 3.0, 3.0
# Wider tables offer this many pairs for each column.
_ALL_PAIRS, _OFFERED = 30, 4
_HANDICAP = 0.5 * math.sqrt(2 / math.pi)

_FEW = Note(
    "tables-left-out",
    "There are too few rows for tables of two columns at this budget, so that synthetic rows rest "
    "on cells and histograms alone; raise epsilon, allow a delta, or ask plan() what to expect.",
)


@dataclass(frozen=True)
class _TableShares:
    """What each kind of question may spend; None for what is not asked."""

    cells: Share
    histograms: Share
    groups: Share | None = None
    choice: Share | None = None
    pairs: Share | None = None


def ask_with_tables(
    door: PointRows,
    run: Run,
    budget: Share,
    ask_cells: Callable[[Share, Overview | None], SummaryResult],
    share: float | None = None,
) -> SummaryResult:
    """Ask for the cells of a summary, and for tables.

    ``ask_cells``: asks for a summary without tables, within a share, given what histograms tell of
    all rows. ``share``: of the budget, for all tables; None for what the number of rows suggests.
    """
    asked = _TableQuestions(door, run)
    number, left = asked.ask_count(budget)
    n_rows = max(float(number.value[0]), 1.0)
    shares = asked.shares(left, n_rows, share)
    counts, unused = asked.ask_histograms(shares.histograms, n_rows)
    result = ask_cells(shares.cells, overview_from(door, counts, number))
    if shares.pairs is not None and unused is not None:
        shares = replace(shares, pairs=_sum(shares.pairs, unused))
    tables = asked.ask_tables(shares, result, counts)
    notes = (_FEW,) if shares.pairs is None and len(door.schema) > 1 else ()
    return replace(result, tables=tables, notes=(*result.notes, *notes))


class _TableQuestions:
    """The questions, through one door."""

    def __init__(self, door: PointRows, run: Run) -> None:
        self._door, self._run, self._views = door, run, 0
        self.axes = axes_of(door.schema)
        self._to_points = _places_of(door.schema)
        first = [self._whole_cut(j, axis.edges()) for j, axis in enumerate(self.axes)]
        self._first = self._view(first)

    def _view(
        self,
        cuts: Sequence[Cut],
        pairs: Sequence[tuple[int, int]] = (),
        groups: Sequence[CellGroups] = (),
    ) -> TableView:
        """Return a view of its own; with a seed, each has noise of its own."""
        seed, self._views = self._run.seed, self._views + 1
        if seed is not None:
            key = (*seed.spawn_key, self._views)
            seed = np.random.SeedSequence(seed.entropy, spawn_key=key)
        return self._door.cut(self._run.meter, seed, cuts, pairs, groups)

    def _whole_cut(self, column: int, edges: Floats, codes: Integers | None = None) -> Cut:
        codes = np.arange(len(edges) - 1) if codes is None else codes
        return Cut(self._to_points[column], edges[1:-1], codes)

    def ask_count(self, budget: Share) -> tuple[Noisy, Share]:
        """Return about how many rows there are, and what is left of the budget."""
        share = budget.take(_COUNT)
        number = self._first.ask_count("number of rows, for tables", share)
        return number, budget if self._first.n_rows_is_public else budget.remainder(share)

    def shares(self, budget: Share, n_rows: float, share: float | None) -> _TableShares:
        """Divide what is left, by how noisy histograms would be."""
        d, pure = len(self.axes), budget.currency == "pure"
        values = np.mean([min(_VALUES, len(axis.edges()) - 1) for axis in self.axes])
        if 0.4 * values * self._error(budget.take(0.25), d) / n_rows > _TOO_FEW or d == 1:
            tables = 0.49 if share is None else share
            cells, histograms = budget.split([round(1 - tables, 6), round(tables, 6)])
            return _TableShares(cells, histograms)
        need = 0.4 * values * self._error(budget, d) / (_GOAL * n_rows)
        least, parts = _PURE if pure else _WITH_DELTA
        h = float(np.clip(need if pure else need**2, least, _MOST_FOR_HISTOGRAMS))
        weights = {"histograms": h}
        names = ("cells", "groups", "choice", "pairs")
        weights |= {name: (1 - h) * part for name, part in zip(names, parts, strict=True)}
        if not any(axis.ordered for axis in self.axes):
            weights["pairs"] += weights.pop("groups")
        if d == 2:
            weights["pairs"] += weights.pop("choice")
        if share is not None:
            others = sum(weights.values()) - weights["cells"]
            weights = {name: share * part / others for name, part in weights.items()}
            weights["cells"] = 1 - share
        parted = budget.split([round(part, 6) for part in weights.values()])
        return _TableShares(**dict(zip(weights, parted, strict=True)))

    def _error(self, share: Share | None, n_tables: int) -> float:
        """Return the standard error of ``n_tables`` tables; infinite if they are not asked for."""
        return math.inf if share is None else self._first.table_error(share, n_tables)

    def ask_histograms(self, share: Share, n_rows: float) -> tuple[HistogramCounts, Share | None]:
        """Ask for histograms of all columns, then within heavy cells; return what was not spent."""
        levels = [share] if all(axis.single for axis in self.axes) else [*share.split(_LEVELS)]
        cells = {j: np.column_stack([e[:-1], e[1:]]) for j, e in self._first_edges()}
        noisy = self._first.ask_histograms("histograms", levels[0])
        counts = _lines(0, cells, [noisy.value], noisy.standard_error)
        unused = None
        for level, part in enumerate(levels[1:], start=1):
            found = histograms_from(counts, self.axes, counts.total(n_rows, math.inf))
            parts = {j: divided_cells(h) for j, h in enumerate(found) if not h.axis.single}
            parts = {j: ends for j, ends in parts.items() if len(ends)}
            if not parts:
                unused = part if unused is None else _sum(unused, part)
                continue
            counts = counts + self._ask_parts(level, parts, part)
        return counts, unused

    def _first_edges(self) -> list[tuple[int, Floats]]:
        return [(j, axis.edges()) for j, axis in enumerate(self.axes)]

    def _ask_parts(self, level: int, parts: dict[int, Floats], share: Share) -> HistogramCounts:
        """Ask for the counts of parts of cells; everything else is in one more cell."""
        cuts = [self._cut_parts(j, ends) for j, ends in parts.items()]
        view = self._view(cuts)
        noisy = view.ask_histograms(f"histograms within cells, {level}", share)
        sizes = np.cumsum([cut.size for cut in cuts])[:-1]
        pieces = np.split(noisy.value, sizes)
        wanted = [piece[: len(parts[j])] for j, piece in zip(parts, pieces, strict=True)]
        return _lines(level, parts, wanted, noisy.standard_error)

    def _cut_parts(self, column: int, ends: Floats) -> Cut:
        axis = self.axes[column]
        edges = np.unique(ends)
        inner = edges[(edges > axis.low) & (edges < axis.high)]
        begins = np.append(axis.low, inner)
        order = {low: place for place, low in enumerate(ends[:, 0])}
        codes = np.array([order.get(low, len(ends)) for low in begins])
        return Cut(self._to_points[column], inner, codes)

    def ask_tables(
        self, shares: _TableShares, result: SummaryResult, counts: HistogramCounts
    ) -> Tables:
        """Ask for groups of cells against numbers, for the tree, and for its tables."""
        cells, seen = _to_tables(self._door, result.cells), signal_of(result.notes) == "seen"
        total = counts.total(cells.n_rows, cells.n_rows_error)
        found = histograms_from(counts, self.axes, total)
        numbers = [j for j, axis in enumerate(self.axes) if axis.ordered]
        for_groups = shares.groups if seen else None
        of_groups = self._error(for_groups, len(numbers))
        of_pairs = self._error(shares.pairs, len(self.axes) - 1)
        n_bins = _between(math.sqrt(total / (_PER_BIN * min(of_groups, of_pairs))), 4, _MOST_BINS)
        bins = [_bins(h, n_bins, _RARE * counts.error) for h in found]
        tables = _without_pairs(counts, found, bins, len(cells.counts))
        if shares.pairs is None:
            return tables
        if for_groups is not None:
            n_groups = _between(math.sqrt(total / (_PER_GROUP * of_groups)), 2, _MOST_GROUPS)
            tables = replace(tables, group_of_cell=_groups(cells, n_groups))

        def model_of(known: Tables) -> SyntheticModel:
            scales = self._door.domain.scales
            return SyntheticModel(self._door.schema, cells, scales, known, seen=seen)

        offered = _pairs_on_offer(model_of(tables))
        cuts = [
            self._whole_cut(j, h.edges, b) for j, (h, b) in enumerate(zip(found, bins, strict=True))
        ]
        in_groups = [(j, len(self.axes)) for j in numbers if for_groups is not None]
        view = self._view(cuts, (*offered, *in_groups), self._cell_groups(cells, tables))
        if for_groups is not None:
            tables = _ask_groups(view, for_groups, in_groups, tables)
        for choice, share in _divide_among_trees(shares.choice, shares.pairs):
            error = self._error(share, len(self.axes) - 1)
            tables = _ask_tree(view, choice, share, model_of(tables), offered, tables, error)
        return tables

    def _cell_groups(self, cells: Cells, tables: Tables) -> list[CellGroups]:
        """Return the cells with rows, as points of the unit ball, and their groups, if any."""
        live, domain = tables.group_of_cell >= 0, self._door.domain
        if not live.any():
            return []
        points = domain.to_unit_ball(cells.cells[live] * domain.scales)
        return [CellGroups(points, tables.group_of_cell[live])]


def overview_from(door: PointRows, counts: HistogramCounts, number: Noisy) -> Overview | None:
    """Return number, mean and spread of the rows as histograms tell them, unless noise hides them.

    Mean and squared distance from it are sums over columns, so that single columns know them.
    """
    domain, total = door.domain, counts.total(float(number.value[0]), number.standard_error)
    found = histograms_from(counts, axes_of(door.schema), total)
    columns = zip(found, Coordinates(door.schema).columns, strict=True)
    told = [_mean_and_spread(*column, domain.scales) for column in columns]
    means, *sums = zip(*told, strict=True)
    square, of_mean, of_square = (float(np.sum(each)) for each in sums)
    each = counts.error / total
    if each * math.sqrt(of_mean) > MEAN_ERROR * domain.radius:
        return None
    mean = domain.to_unit_ball(np.concatenate(means)[None])[0]
    square, error = (x / domain.radius**2 for x in (square, each * math.sqrt(of_square)))
    distance = math.sqrt(float(np.clip(max(square, error), 1e-6, 1.0)))
    return Overview(number, Spread(total, mean, distance, error))


def _mean_and_spread(
    histogram: Histogram, column: Column, scales: Floats
) -> tuple[Floats, float, float, float]:
    """Return the mean of a column and its variance, and the squared slopes of both in counts."""
    shares, unit = histogram.mass / histogram.mass.sum(), scales[column.start] ** 2
    if column.labels is not None:
        shares = shares[: column.size]  # a missing value that is left out has no category
        slopes = (1 - 2 * shares) / unit
        return shares, float(shares @ (1 - shares)) / unit, column.size / unit, slopes @ slopes
    places = histogram.axis.middles(histogram.edges)
    mean = shares @ places
    gaps = (places - mean) ** 2 / unit
    return np.array([mean]), shares @ gaps, gaps.sum(), gaps @ gaps


def _ask_groups(
    view: TableView, share: Share, pairs: Sequence[tuple[int, int]], tables: Tables
) -> Tables:
    """Ask how the rows of each group, the last attribute, spread over the bins of numbers."""
    noisy = view.ask_pair_tables("groups of cells", pairs, share)
    parts = [noisy.table(group, number) for number, group in pairs]
    return replace(
        tables,
        group_counts=np.concatenate(parts, axis=1),
        group_counts_error=np.array([noisy.standard_error]),
    )


def _divide_among_trees(choice: Share | None, pairs: Share) -> list[tuple[Share | None, Share]]:
    """Return what each tree may spend on its choice and on its tables.

    Half a share has √2 of the noise with a δ, but twice as much in pure ε, where a second tree
    lost what it gained. Two columns have one pair and nothing to choose.
    """
    if choice is None or pairs.currency == "pure":
        return [(choice, pairs)]
    halves = [0.5, 0.5]
    return list(zip(choice.split(halves), pairs.split(halves), strict=True))


def _ask_tree(
    view: TableView,
    choice: Share | None,
    share: Share,
    model: SyntheticModel,
    offered: Sequence[tuple[int, int]],
    tables: Tables,
    error: float,
) -> Tables:
    """Ask which other pairs the model explains worst, and for their tables."""
    asked = {(int(first), int(second)) for first, second in tables.pairs}
    chosen = [pair for pair in offered if pair not in asked]
    if choice is not None:
        expected = {pair: model.suggested_table(*pair) for pair in chosen}
        handicaps = [round(_HANDICAP * error * table.size) for table in expected.values()]
        name = "second tree" if asked else "tree"
        chosen = view.ask_spanning_tree(name, expected, choice, handicaps)
    name = "tables along the second tree" if asked else "tables along the tree"
    noisy = view.ask_pair_tables(name, chosen, share)
    pairs = np.array(noisy.layout.pairs, np.int64)
    errors = np.full(len(pairs), noisy.standard_error)
    return replace(
        tables,
        pairs=np.concatenate([tables.pairs, pairs]),
        pair_counts=np.concatenate([tables.pair_counts, noisy.cells]),
        pair_counts_error=np.concatenate([tables.pair_counts_error, errors]),
    )


def _to_tables(door: PointRows, cells: Cells) -> Cells:
    """Return the cells as they will be released, in the metric of the summary."""
    domain = door.domain
    places = domain.in_data_units(cells.cells)
    return cells.rescale(domain.radius, cells=places / domain.scales)


def _places_of(schema: Schema) -> list[int]:
    """Return the position of each column among the numbers of a row, then its categories."""
    order = [*schema.numeric, *schema.categorical]
    return [order.index(name) for name in schema.names]


def _lines(
    level: int, cells: dict[int, Floats], counts: Sequence[Floats], error: float
) -> HistogramCounts:
    ends = np.concatenate(list(cells.values()))
    columns = np.repeat(list(cells), [len(part) for part in cells.values()])
    levels = np.full(len(ends), level, np.int64)
    errors = np.full(len(ends), error)
    return HistogramCounts(
        columns.astype(np.int64), levels, ends[:, 0], ends[:, 1], np.concatenate(counts), errors
    )


def _bins(histogram: Histogram, n_bins: int, rare: float) -> Integers:
    """Return the bin of each cell: runs of about equal mass, or categories that stand out."""
    if not histogram.axis.ordered:
        return _pool(histogram.mass, rare)
    codes, code, mass = np.zeros(len(histogram.mass), np.int64), 0, 0.0
    most = histogram.mass.sum() / n_bins
    for cell, rows in enumerate(histogram.mass):
        if mass > 0 and mass + rows / 2 > most:
            code, mass = code + 1, 0.0
        codes[cell] = code
        mass += rows
    return codes


def _pool(mass: Floats, rare: float) -> Integers:
    """Return a bin for each category, and one for all that are rare."""
    few = mass < rare
    if len(mass) > _MOST_CATEGORIES:
        few[np.argsort(-mass, kind="stable")[_MOST_CATEGORIES - 1 :]] = True
    if few.sum() < 2:
        return np.arange(len(mass))
    return np.where(few, int((~few).sum()), np.cumsum(~few) - 1)


def _groups(cells: Cells, n_groups: int) -> Integers:
    """Return the group of each cell, of those near to each other; -1 for cells without rows."""
    live = cells.counts > 0
    middle = np.average(cells.cells, axis=0, weights=cells.counts)
    around, k = cells.cells - middle, min(n_groups, int(live.sum()))
    centres = weighted_kmeans(around, cells.counts, k, np.random.default_rng(k))
    group = np.full(len(live), -1, np.int64)
    group[live] = np.unique(nearest_centre(around[live], centres), return_inverse=True)[1]
    return group


def _pairs_on_offer(model: SyntheticModel) -> list[tuple[int, int]]:
    """Return the pairs that may be picked; of many columns those that the cells think strongest."""
    d = len(model.axes)
    every = list(combinations(range(d), 2))
    if d <= _ALL_PAIRS:
        return every
    strength = [
        np.abs(model.expected_table(*pair) - model.independent(*pair)).sum() for pair in every
    ]
    return [every[place] for place in sorted(np.argsort(strength)[::-1][: _OFFERED * d])]


def _without_pairs(
    counts: HistogramCounts,
    found: Sequence[Histogram],
    bins: Sequence[Integers],
    n_cells: int,
) -> Tables:
    """Return tables with only histograms and bins."""
    return Tables(
        counts,
        np.repeat(np.arange(len(bins)), [len(codes) for codes in bins]),
        np.concatenate([histogram.edges[:-1] for histogram in found]),
        np.concatenate(bins),
        np.full(n_cells, -1, np.int64),
        np.empty((0, 0)),
        np.zeros(1),
        np.empty((0, 2), np.int64),
        np.empty(0),
        np.empty(0),
    )


def _sum(first: Share, second: Share) -> Share:
    return Share(first.currency, first.amount + second.amount)


def _between(value: float, low: int, high: int) -> int:
    return int(np.clip(value, low, high))
