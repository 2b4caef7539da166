"""The table method: release tables of sums over groups, and find the groups in their noise.

Given public groups of rows, however many, the table of the sums of every column over every group
costs the same as a single sum, because one count is in one cell. So the budget buys a few such
tables, alternately over groups of columns and of rows, each of which yields the groups for the
next. Everything else, restarts, spectral steps and the final clusters, is post-processing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privclust.budget import Share
from privclust.coclustering.groups import directions_above_noise, embed_lines, group_lines
from privclust.coclustering.result import CoclusteringResult
from privclust.coclustering.row_method import column_clusters, prototype_weights
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView
from privclust.data.public import Noisy

# The share of the noisy total, from which the schedule is made.
_TOTAL = 0.005
# The share of the block totals. They could be summed from the profiles for free, but the column
# clusters fit the noise of the profiles, which would raise the totals and τ.
_BLOCKS = 0.03
# The first table starts from random groups and needs the most.
_FIRST_WEIGHT = 1.5
_STARTS, _LAST_STARTS = 4, 8
# Signal per cluster from which one more pair of tables pays, and from which rows are grouped first.
_MORE_TABLES_FROM = {"counts": (8, 60), "capped": (12, 60)}
_ROWS_FIRST_FROM = 12
# Fine groups keep what coarse ones merge, but short rows are lost in many noisy cells.
_FINER_GROUPS_FROM = (12, 30)
# Beyond some length of rows, more counts add less; under a cap, which flattens them, sooner.
_LONGEST_ROW = {"counts": 300, "capped": 100}
_MOST_FIRST_GROUPS = 128
# Groups for each cluster, at most, if there are many clusters: those of the first table.
MOST_GROUPS = 4
_FEWEST_ROW_GROUPS = 16


@dataclass(frozen=True)
class Schedule:
    """Which tables to ask for, fixed by the budget, the noisy total and the shape."""

    n_tables: int  # the number of tables; the last one gives the profiles
    # Whether the first table is over random groups of rows, from which columns are grouped.
    columns_first: bool
    fineness: int  # how many intermediate groups there are for each cluster: 1, 2 or 3
    trust: float  # how strongly frequent columns are preferred; see :func:`embed`

    @classmethod
    def of(cls, loss: float, per_row: float, n_clusters: int, *, capped: bool) -> Schedule:
        """Return the schedule for a loss per count and a number of counts per row.

        Frequent columns stand out from the noise individually, which rows rarely do. So where
        signal is scarce, or entries are capped, a table of columns finds a start that one of rows
        misses.
        """
        kind = "capped" if capped else "counts"
        signal = loss * min(per_row, _LONGEST_ROW[kind]) / n_clusters
        columns_first = capped or signal < _ROWS_FIRST_FROM
        n_pairs = 1 + bisect_right(_MORE_TABLES_FROM[kind], signal)
        fineness = 1 + bisect_right(_FINER_GROUPS_FROM, signal)
        trust = 1.0 if capped else 0.75 if columns_first else 0.5
        return cls(2 * n_pairs + (1 if columns_first else 2), columns_first, fineness, trust)

    def groups(self, n_clusters: int) -> int:
        """Return the number of intermediate groups."""
        return max(3, self.fineness * n_clusters)

    def directions(self, n_clusters: int, *, last: bool) -> int:
        """Return the number of directions that separate rows or columns.

        K clusters differ in K - 1 directions. A few more keep what finer groups show, and help if a
        direction that does not separate clusters is stronger than one that does.
        """
        if self.fineness == 1:
            return max(1, n_clusters - 1)
        return n_clusters if last or self.fineness == 2 else (3 * n_clusters + 1) // 2


def ask_table_clusters(
    view: MatrixView,
    budget: Share,
    n_row_clusters: int,
    n_column_clusters: int,
    rng: np.random.Generator,
) -> CoclusteringResult:
    """Co-cluster the matrix of ``view`` within ``budget``."""
    for_total, for_blocks, for_tables = budget.split([_TOTAL, _BLOCKS, 1 - _TOTAL - _BLOCKS])
    total = float(view.ask_total("total", for_total).value[0, 0])
    per_row = max(1.0, total / view.shape[0])
    loss = np.sqrt(2) / view.table_error(budget)
    schedule = Schedule.of(loss, per_row, n_row_clusters, capped=view.capped)
    *shares, for_profiles = for_tables.split([_FIRST_WEIGHT] + [1] * (schedule.n_tables - 1))
    blind = _random_groups(view, shares[0], schedule, per_row, n_row_clusters, rng)
    side, tables = _ask_alternating_groups(view, blind, shares, schedule, n_row_clusters, rng)
    rows = Groups(side.groups.labels, n_row_clusters)
    profiles = view.ask_column_table("profiles of the row clusters", rows, for_profiles)
    columns = column_clusters(profiles, n_column_clusters, rng)
    totals = view.ask_block_table("block totals", rows, columns, for_blocks)
    return CoclusteringResult(
        block_totals=totals.value,
        block_error=np.full(totals.value.shape, totals.standard_error),
        columns=columns,
        column_weights=prototype_weights(profiles).T,
        profiles=profiles,
        rows=rows,
        directions=directions_above_noise(tables[-1], tables[0], budget.currency, rng),
    )


@dataclass(frozen=True)
class _Side:
    """Public groups, and whether they are of rows or of columns."""

    groups: Groups
    of_rows: bool


def _random_groups(
    view: MatrixView,
    share: Share,
    schedule: Schedule,
    per_row: float,
    n_clusters: int,
    rng: np.random.Generator,
) -> _Side:
    """Return random groups, enough that counting blurs the first table about as much as noise."""
    width = 16 * per_row / view.table_error(share) ** 2
    width = int(np.clip(width, 2 * n_clusters, max(_MOST_FIRST_GROUPS, MOST_GROUPS * n_clusters)))
    if schedule.columns_first:
        width = max(_FEWEST_ROW_GROUPS, 2 * n_clusters)
    length = view.shape[0 if schedule.columns_first else 1]
    return _Side(Groups(rng.integers(0, width, length), width), schedule.columns_first)


def _ask_alternating_groups(
    view: MatrixView,
    side: _Side,
    shares: Sequence[Share],
    schedule: Schedule,
    n_clusters: int,
    rng: np.random.Generator,
) -> tuple[_Side, list[Noisy]]:
    """Group rows by groups of columns and vice versa, in turn; return the last groups, and all."""
    tables = []
    for number, share in enumerate(shares, start=1):
        tables.append(_ask_table(view, side, share, number))
        last = number == len(shares)
        embedding = embed_lines(
            tables[-1],
            schedule.directions(n_clusters, last=last),
            trust=schedule.trust if side.of_rows else 0.0,
        )
        wanted = n_clusters if last else schedule.groups(n_clusters)
        found = group_lines(embedding, wanted, rng, n_starts=_LAST_STARTS if last else _STARTS)
        side = _Side(found, of_rows=not side.of_rows)
    return side, tables


def _ask_table(view: MatrixView, side: _Side, share: Share, number: int) -> Noisy:
    """Ask for the table of the other side's sums over the groups; one line per row or column."""
    if not side.of_rows:
        return view.ask_row_table(f"rows by column groups, step {number}", side.groups, share)
    answer = view.ask_column_table(f"columns by row groups, step {number}", side.groups, share)
    return Noisy(answer.value.T, answer.standard_error)
