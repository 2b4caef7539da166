"""``SyntheticModel``: released noisy counts in, synthetic rows out.

Cells say which values go together, histograms how often each value occurs, and tables of a few
pairs repair what cells miss. Those that form a tree, the trunk, are drawn along: a row by its cell,
P(cell) P(root | cell) Π P(child | parent, cell). The others are chords: more rows are drawn than
are wanted, and picked so that all tables agree. Everything here is computed from released values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Indices, Integers
from privclust.clustering.binned_columns import Histogram, axes_of, histograms_from
from privclust.clustering.cell_tables import (
    CellColumn,
    Shrunk,
    draw_to_independence,
    noise_part,
    number_table,
    rake,
    share_table,
    shrunk,
)
from privclust.clustering.margins import margins_from
from privclust.clustering.result import Cells
from privclust.clustering.tables import Tables
from privclust.clustering.weighted_kmeans import nearest_centre
from privclust.schema.coordinates import Column, Coordinates, project_shares
from privclust.schema.schema import Schema

# Rounds in which P(cell, parent, child) is brought to agree with both columns and their table.
_EDGE_ROUNDS = 15
# What every bin and cell has at least, of all rows: nothing that is declared is impossible.
_TRACE = 1e-9
_TINY = 1e-300
_NAMED = 6  # this many are named one by one
# Rows by which centres are moved, at least and at most, and how many at a time.
_STEPPED_ROWS, _AT_A_TIME = (1000, 50_000), 10_000
# Rows drawn for each that is picked, the fewest drawn, and about how many are picked at once; the
# rounds in which their weights are raked, and the largest weight.
_FOR_EACH, _FEWEST_DRAWN, _PICKED, _PICK_ROUNDS, _MOST_WEIGHT = 3, 20_000, 40_000, 10, 20.0
_LOOKED_AT = 100_000  # rows that tell what to expect of chords


@dataclass(frozen=True)
class _Edge:
    """A pair of columns, and what is believed of its table."""

    pair: tuple[int, int]
    found: Shrunk
    table: Floats


class SyntheticModel:
    """A model of rows that agrees with all released counts.

    ``scales``: (n_coordinates,), what counts as one in each coordinate, in the units of the data.
    ``seen``: whether the cells show the rows; otherwise columns are independent of each other.
    """

    def __init__(
        self, schema: Schema, cells: Cells, scales: Floats, tables: Tables, *, seen: bool = True
    ) -> None:
        self.schema, self.axes = schema, axes_of(schema)
        self.tables, self._cells, self._scales = tables, cells, scales
        self.total = tables.histograms.total(cells.n_rows, cells.n_rows_error)
        self.bins = tables.bins(len(schema))
        counted = histograms_from(tables.histograms, self.axes, self.total)
        known = margins_from(tables, counted, self.total)
        self.histograms = [margin.histogram for margin in known]
        self._margin_errors = [margin.errors for margin in known]
        self.margins: list[Floats] = [
            np.asarray(np.bincount(bins, histogram.mass) + _TRACE * self.total, np.float64)
            for bins, histogram in zip(self.bins, self.histograms, strict=True)
        ]
        self._live = (cells.counts > 0) & seen
        self._grouped = bool(len(tables.group_counts)) and seen
        self.weights, self.given = self._given_cells()

    @property
    def sizes(self) -> list[int]:
        """How many bins each column has."""
        return [len(margin) for margin in self.margins]

    # What the cells say of every column.
    def _given_cells(self) -> tuple[Floats, list[Floats]]:
        """Return the rows of each cell, and their table with the bins of each column."""
        if not self._live.any():
            return np.array([self.total]), [margin[None] for margin in self.margins]
        weights = self._cells.counts[self._live]
        weights = weights * (self.total / weights.sum())
        given = draw_to_independence(list(self._by_cells(weights)), self._noise(weights))
        return self._by_groups(weights, given) if self._grouped else (weights, given)

    def _places(self) -> tuple[Floats, Floats]:
        """Return where the cells are, in the units of the data, and their standard errors."""
        places, errors = self._cells.cells, np.sqrt(self._cells.noise)
        return (places * self._scales)[self._live], (errors * self._scales)[self._live]

    def _noise(self, weights: Floats) -> Floats:
        places, errors = self._places()
        columns = (column.places for column in Coordinates(self.schema).columns)
        return np.array([noise_part(places[:, at], errors[:, at], weights) for at in columns])

    def _by_cells(self, weights: Floats) -> Iterator[Floats]:
        places, errors = self._places()
        columns = Coordinates(self.schema).columns
        numbers = {
            j: self._number(j, places[:, column.start], errors[:, column.start])
            for j, column in enumerate(columns)
            if column.labels is None
        }
        within = {j: number.within(weights) for j, number in numbers.items()}
        if len(numbers) == len(columns):  # all of the spread within cells is theirs
            known = sum(within[j] / self._scales[j] ** 2 for j in within)
            part = float(np.clip(self._cells.within / max(known, _TINY), 0.02, 1))
            within = {j: part * variance for j, variance in within.items()}
        for j, column in enumerate(columns):
            if j in numbers:
                yield number_table(numbers[j], weights, within[j])
            else:
                shares = _with_left_out(places[:, column.places], column)
                yield share_table(shares, self.bins[j], weights, self.margins[j])

    def _number(self, column: int, means: Floats, errors: Floats) -> CellColumn:
        values = binned_means(self.histograms[column], self.bins[column])
        return CellColumn(self.margins[column], values, means, errors)

    def _by_groups(self, weights: Floats, given: list[Floats]) -> tuple[Floats, list[Floats]]:
        """Return weights and tables that agree with the counts of groups of cells."""
        group, noisy = self.tables.group_of_cell[self._live], self.tables.group_counts
        error = float(self.tables.group_counts_error[0])
        member = np.eye(len(noisy))[:, group]
        numbers = [j for j, axis in enumerate(self.axes) if axis.ordered]
        parts = np.split(noisy, np.cumsum([self.sizes[j] for j in numbers])[:-1], axis=1)
        counted = np.average(
            [part.sum(axis=1) for part in parts],
            axis=0,
            weights=[1 / part.shape[1] for part in parts],
        )
        rows = project_shares(counted[None] / self.total)[0] * self.total + 1e-6 * self.total
        rows *= self.total / rows.sum()
        weights = weights * (rows / np.maximum(member @ weights, 1e-9))[group]
        weights *= self.total / weights.sum()
        given = [rake(s, weights, o) for s, o in zip(given, self.margins, strict=True)]
        rows = member @ weights
        for j, part in zip(numbers, parts, strict=True):
            known = member @ given[j]
            found = rake(shrunk(part, known, error, sums_known=False).table, rows, self.margins[j])
            scaled = given[j] * (found / np.maximum(known, _TINY))[group]
            given[j] = rake(scaled, weights, self.margins[j])
        return weights, given

    # Pairs of columns.
    def expected_table(self, first: int, second: int) -> Floats:
        """Return the table of two columns that the cells suggest."""
        return np.asarray(self.given[first].T @ _conditional(self.given[second]))

    def independent(self, first: int, second: int) -> Floats:
        """Return the table of two independent columns."""
        return np.outer(self.margins[first], self.margins[second]) / self.total

    def suggested_table(self, first: int, second: int) -> Floats:
        """Return the table of two columns that cells and trunk suggest."""
        if not self.trunk:
            return self.expected_table(first, second)
        shape = self.sizes[first], self.sizes[second]
        flat = np.ravel_multi_index((self._looked_at[first], self._looked_at[second]), shape)
        counted = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
        smooth = counted * (self.total / len(flat)) + 1e-4 * self.independent(first, second)
        return rake(smooth, self.margins[first], self.margins[second])

    @cached_property
    def _looked_at(self) -> dict[int, Indices]:
        """Rows along the trunk, the same every time."""
        return self._draw_along_trunk(_LOOKED_AT, np.random.default_rng(0))

    @cached_property
    def trunk(self) -> list[_Edge]:
        """The pairs that form a tree."""
        pairs = self.tables.pairs.tolist()
        places = [place for place, joins in enumerate(self._joins) if joins]
        return [self._edge(place, self.expected_table(*pairs[place])) for place in places]

    @cached_property
    def chords(self) -> list[_Edge]:
        """The other pairs."""
        pairs = self.tables.pairs.tolist()
        places = [place for place, joins in enumerate(self._joins) if not joins]
        return [self._edge(place, self.suggested_table(*pairs[place])) for place in places]

    @property
    def edges(self) -> list[_Edge]:
        """All pairs whose tables were asked for."""
        return [*self.trunk, *self.chords]

    @property
    def _joins(self) -> Iterator[bool]:
        """Whether each pair joins columns that none before it does."""
        part = list(range(len(self.axes)))
        for first, second in self.tables.pairs.tolist():
            old, new = part[second], part[first]
            part = [new if label == old else label for label in part]
            yield old != new

    def _edge(self, place: int, expected: Floats) -> _Edge:
        first, second = self.tables.pairs[place].tolist()
        noisy, error = self.tables.pair_tables(self.sizes)[place], self.tables.pair_counts_error
        found = shrunk(noisy, expected, float(error[place]), sums_known=True)
        agreed = rake(found.table, self.margins[first], self.margins[second])
        return _Edge((first, second), found, agreed)

    def _joint(self, edge: _Edge, parent: int) -> tuple[int, Floats]:
        """Return the child of a parent, and the counts of (cell, parent, child).

        Where cells and table contradict each other, the table wins: it comes last.
        """
        child = edge.pair[edge.pair[0] == parent]
        table = edge.table if edge.pair[0] == parent else edge.table.T
        above, below = self.given[parent], self.given[child]
        joint = above[:, :, None] * _conditional(below)[:, None, :]
        for _ in range(_EDGE_ROUNDS):
            joint *= (above / np.maximum(joint.sum(axis=2), _TINY))[:, :, None]
            joint *= (below / np.maximum(joint.sum(axis=1), _TINY))[:, None, :]
            joint *= table / np.maximum(joint.sum(axis=0), _TINY)
        joint += _TRACE * self.margins[child] * (joint.sum(axis=2, keepdims=True) + _TRACE)
        return child, joint

    # Rows.
    def drawn(self, n_rows: int, rng: np.random.Generator) -> dict[str, Floats | Integers]:
        """Return synthetic rows by column: numbers, or codes of categories."""
        codes = self._drawn_codes(n_rows, rng)
        names = self.schema.names
        return {names[j]: self._value(j, codes[j], rng) for j in range(len(names))}

    def _drawn_codes(self, n_rows: int, rng: np.random.Generator) -> dict[int, Indices]:
        """Return the bins of rows by column, picked so that they agree with all tables."""
        codes = self._draw_along_trunk(max(_FOR_EACH * n_rows, _FEWEST_DRAWN), rng)
        n_parts = -(-n_rows // _PICKED)
        parts = np.array_split(np.arange(len(codes[0])), n_parts)
        wanted = np.diff(np.linspace(0, n_rows, n_parts + 1).astype(int))
        picked = [self._pick(codes, *part, rng) for part in zip(parts, wanted, strict=True)]
        order = rng.permutation(np.concatenate(picked))
        return {column: values[order] for column, values in codes.items()}

    def _pick(
        self, codes: dict[int, Indices], rows: Indices, n_rows: int, rng: np.random.Generator
    ) -> Indices:
        """Return ``n_rows`` of ``rows``, each as often as its weight says.

        They are taken at equal steps from rows in order, so that rows that are alike are taken as
        often as all of them together should be.
        """
        rows = rows[np.lexsort([codes[column][rows] for column in reversed(codes)])]
        tables = []
        for edge in self.edges:
            first, second = (codes[column][rows] for column in edge.pair)
            share = edge.table.ravel() * (len(rows) / edge.table.sum())
            tables.append((first * edge.table.shape[1] + second, share))
        weights = np.ones(len(rows))
        for _ in range(_PICK_ROUNDS):
            for cells, share in tables:
                found = np.bincount(cells, weights, len(share))
                weights *= (share / np.maximum(found, _TINY))[cells]
                weights = np.clip(weights, 1 / _MOST_WEIGHT, _MOST_WEIGHT)
        ends = np.cumsum(weights)
        steps = (np.arange(n_rows) + rng.random()) * (ends[-1] / n_rows)
        return np.asarray(rows[np.minimum(np.searchsorted(ends, steps), len(rows) - 1)])

    def _draw_along_trunk(self, n_rows: int, rng: np.random.Generator) -> dict[int, Indices]:
        """Return the bins of rows by column, as cells and trunk have them."""
        cells = _drawn(self.weights[None], np.zeros(n_rows, np.intp), rng)
        codes: dict[int, Indices] = {}
        for root in range(len(self.axes)):
            if root not in codes:
                codes[root] = _drawn(self.given[root] + _TRACE * self.margins[root], cells, rng)
                self._draw_below(root, cells, codes, rng)
        return codes

    def _draw_below(
        self, root: int, cells: Indices, codes: dict[int, Indices], rng: np.random.Generator
    ) -> None:
        """Draw the bins of all columns that the trunk joins to ``root``."""
        waiting, left = [root], [*self.trunk]
        while waiting:
            parent = waiting.pop()
            for edge in [e for e in left if parent in e.pair]:
                left.remove(edge)
                child, joint = self._joint(edge, parent)
                rows = cells * self.sizes[parent] + codes[parent]
                codes[child] = _drawn(joint.reshape(-1, self.sizes[child]), rows, rng)
                waiting.append(child)

    def _value(self, column: int, codes: Indices, rng: np.random.Generator) -> Floats | Integers:
        """Return values of a column, given their bins."""
        histogram, bins = self.histograms[column], self.bins[column]
        inside = np.zeros((self.sizes[column], len(bins)))
        inside[bins, np.arange(len(bins))] = histogram.mass + _TRACE
        cells = _drawn(inside, codes, rng)
        axis, edges = self.axes[column], histogram.edges
        return axis.drawn(edges[cells], edges[cells + 1], rng) if axis.ordered else cells

    def step(self, centers: Floats, errors: Floats, factors: Floats | float = 1.0) -> Floats:
        """Return centres moved towards the means of the synthetic rows nearest to each.

        Tables know better how many rows there are, cells where they are. A centre goes half of the
        way, or as much of it as the noise of the cells explains, if that is less: beyond, the rows
        contradict the cells. ``errors``: the standard errors of ``centers``. All are in the metric
        of the summary; rows are nearest by coordinates times ``factors``.
        """
        if not self.edges:
            return centers
        n_rows = int(np.clip(self.total, *_STEPPED_ROWS))
        drawn = self.drawn(n_rows, np.random.default_rng(len(centers)))
        sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
        for start in range(0, n_rows, _AT_A_TIME):
            part = {name: values[start : start + _AT_A_TIME] for name, values in drawn.items()}
            points = self._points(part)
            member = np.eye(len(centers))[nearest_centre(points * factors, centers * factors)]
            sums, counts = sums + member.T @ points, counts + member.sum(axis=0)
        gaps = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None] - centers, 0)
        noise, gap = (((x * factors) ** 2).sum(axis=1) for x in (errors, gaps))
        return np.asarray(centers + gaps * np.minimum(0.5, noise / np.maximum(gap, _TINY))[:, None])

    def _points(self, drawn: dict[str, Floats | Integers]) -> Floats:
        """Return rows in the metric of the summary."""
        parts = []
        for column in Coordinates(self.schema).columns:
            values = drawn[column.name]
            # A missing value that is left out has no category at all.
            one = values if column.labels is None else np.eye(column.size + 1)[values][:, :-1]
            parts.append(np.reshape(one, (len(values), column.size)))
        return np.concatenate(parts, axis=1) / self._scales

    # What to say of them.
    @property
    def column_error(self) -> float:
        """How far noise alone moves the bins of a column, as a part of all rows, on average."""
        return float(0.4 * np.mean([e.sum() for e in self._margin_errors]) / self.total)

    @property
    def pair_error(self) -> float | None:
        """How far the tables that were asked for are off, on average; None if there are none."""
        errors = [edge.found.error for edge in self.edges if not edge.found.hidden]
        return float(np.mean(errors)) if errors else None

    @property
    def hidden_pairs(self) -> list[tuple[str, str]]:
        """The pairs of columns whose tables noise hid."""
        names = self.schema.names
        return [(names[e.pair[0]], names[e.pair[1]]) for e in self.edges if e.found.hidden]

    @property
    def pooled(self) -> dict[str, int]:
        """How many categories share a bin, for the columns that have any such."""
        shared = {
            name: int((np.bincount(bins)[bins] > 1).sum())
            for name, bins, axis in zip(self.schema.names, self.bins, self.axes, strict=True)
            if not axis.ordered
        }
        return {name: count for name, count in shared.items() if count}

    @property
    def sentences(self) -> list[str]:
        """What to expect of the rows, a sentence each."""
        points = f"Noise moves the table of a column by about {_points(self.column_error)}"
        if self.pair_error is not None:
            points += f", and that of a pair that was asked for by {_points(self.pair_error)}"
        sentences = [f"{points}, in total variation."]
        if not self.edges and len(self.axes) > 1:
            sentences.append(
                "Tables of pairs were left out: rows rest on cells and histograms alone."
            )
        if self.pooled:
            sentences.append(
                "Rare values share what is known of them with each other, and only their numbers "
                f"differ: {_shorten(f'{n} of {name!r}' for name, n in self.pooled.items())}."
            )
        if self.hidden_pairs:
            pairs = _shorten(f"{first!r} and {second!r}" for first, second in self.hidden_pairs)
            sentences.append(f"Noise hid these tables, which come from the cells alone: {pairs}.")
        return sentences


def _points(part: float) -> str:
    return f"{100 * part:.2g} points"


def _shorten(words: Iterable[str]) -> str:
    """Return words in a row; many are cut short."""
    named = list(words)
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return "; ".join(named[:_NAMED]) + more


def binned_means(histogram: Histogram, bins: Integers) -> Floats:
    """Return the mean number of each bin."""
    mass = histogram.mass + _TRACE * max(float(histogram.mass.sum()), 1.0)
    middles = histogram.axis.middles(histogram.edges)
    return np.asarray(np.bincount(bins, mass * middles) / np.bincount(bins, mass))


def _with_left_out(shares: Floats, column: Column) -> Floats:
    """Return shares with one more for missing values that are left out."""
    if not column.omits:
        return shares
    return np.column_stack([shares, np.maximum(1 - shares.sum(axis=1), 0)])


def _conditional(table: Floats) -> Floats:
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), _TINY))


def _drawn(tables: Floats, rows: Indices, rng: np.random.Generator) -> Indices:
    """Return a column for each of ``rows`` of a table, in proportion to the entries of that row."""
    ends = np.cumsum(tables, axis=1)
    ends /= np.maximum(ends[:, -1:], _TINY)
    ends[:, -1] = 1
    # One rising line of all rows, so that one search draws them all.
    line = (ends + np.arange(len(ends))[:, None]).ravel()
    found = np.searchsorted(line, rows + rng.random(len(rows)), side="right")
    width = tables.shape[1]
    return np.asarray(np.clip(found - rows * width, 0, width - 1))
