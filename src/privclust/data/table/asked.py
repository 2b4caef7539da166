"""Statistics of a table: exact functions of its counts, and what one more row changes in each.

A row is in one cell of the table of every set of attributes. A statistic here is called with the
exact counts; it need not be a sum over rows, and what a row changes may depend on the others. The
declared bounds hold for all of them, see ``proofs/table.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.question import Pick, Question, Scores, Term
from privclust.data.table.kernels import BIT, EntropyScale, ExactCounts

Sets = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class TableCounts:
    """The tables of some sets of attributes in a row; that of no attribute has one cell."""

    of: str  # the question of the view
    sets: Sets

    @property
    def question(self) -> Question:
        """A row is in one cell of each table."""
        return Question(self.of, Term.cells(len(self.sets)))

    def __call__(self, exact: ExactCounts) -> Integers:
        """Return the counts."""
        return np.concatenate([exact.table(chosen).ravel() for chosen in self.sets])


@dataclass(frozen=True)
class Entropies:
    """The sums of F over the tables of sets of attributes."""

    scale: EntropyScale
    sets: Sets

    @property
    def question(self) -> Question:
        """A row moves a cell of each table by one, and the sum by a step of F."""
        term = Term.within(self.scale.steepest, len(self.sets))
        return Question("entropies", term, step=1 / BIT)

    def __call__(self, exact: ExactCounts) -> Integers:
        """Return the sums."""
        sums = [int(self.scale(exact.table(chosen)).sum()) for chosen in self.sets]
        return np.array(sums, np.int64)


@dataclass(frozen=True)
class Contexts:
    """Conditional entropy of the target given sets of other attributes: -N H(target | set)."""

    scale: EntropyScale
    target: int
    sets: Sets  # the candidates, all of one size
    top: int | None = None  # how many are picked, of single attributes; ``None`` for one, of sets

    @property
    def pick(self) -> Pick:
        """The joint cell of a row has no more rows than that of the set; steps never fall."""
        of = "relevant_context" if self.top is None else "relevant_attributes"
        words = f"{{title}} among {len(self.sets)} candidates"
        scores = Scores(-self.scale.steepest, 0)
        return Pick(of, scores, words=words, bounded=True, top=self.top)

    def __call__(self, exact: ExactCounts) -> Integers:
        """Return the scores in one row."""
        if self.top is None:
            return _one_row(exact.context_scores(self.sets, self.scale, self.target))
        return _one_row([exact.conditional(self.scale, self.target, x) for (x,) in self.sets])


@dataclass(frozen=True)
class Tree:
    """How far the tables of pairs are from public ones, less public handicaps: L1 distances."""

    # About the table of each pair that may be picked; rounded to whole numbers.
    expected: Mapping[tuple[int, int], Floats]
    handicaps: Sequence[int]  # what is subtracted from the distance of each pair

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The candidates."""
        return list(self.expected)

    @cached_property
    def turns(self) -> int:
        """How many picks it takes until every further one would close a cycle."""
        picks: list[int] = []
        while left := self._left(picks):
            picks.append(left[0])
        return len(picks)

    @property
    def pick(self) -> Pick:
        """A row moves a cell of each table by one, and so each distance by at most one."""
        words = f"Exponential, {self.turns} picks in turn"
        base = _one_row(self._less_handicaps([np.zeros(t.shape) for t in self._whole]))
        pick = Pick("spanning_tree", Scores(-1, 1), base=base, words=words, bounded=True)
        return replace(pick, turns=self.turns, left=self._left)

    def __call__(self, exact: ExactCounts) -> Integers:
        """Return the scores in one row."""
        return _one_row(self._less_handicaps([exact.table(pair) for pair in self.pairs]))

    @cached_property
    def _whole(self) -> list[Integers]:
        return [np.rint(table).astype(np.int64) for table in self.expected.values()]

    def _less_handicaps(self, tables: Sequence[Floats | Integers]) -> list[int]:
        compared = zip(tables, self._whole, self.handicaps, strict=True)
        return [int(np.abs(found - one).sum()) - off for found, one, off in compared]

    def _left(self, picks: Sequence[int]) -> list[int]:
        """Return the pairs that close no cycle with those that were picked."""
        group = list(range(max(map(max, self.pairs), default=-1) + 1))
        for pick in picks:
            i, j = (group[end] for end in self.pairs[pick])
            group = [i if label == j else label for label in group]
        return [place for place, (i, j) in enumerate(self.pairs) if group[i] != group[j]]


def _one_row(scores: list[int]) -> Integers:
    # Python's integers never wrap; beyond 2^62 they are clipped, because an error would reveal
    # something about the rows.
    return np.array([[max(-(2**62), min(score, 2**62)) for score in scores]], np.int64)
