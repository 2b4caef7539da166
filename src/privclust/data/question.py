"""Questions: what one more row, and so a step, can change in an exact answer.

A kernel declares what one more row changes: a :class:`Term` of a table of integers, or the
:class:`Scores` of candidates. The privacy unit says what a step between neighbours consists of.
:meth:`Term.over` and :meth:`Scores.over` combine the two; no sensitivity is derived anywhere else.
Two lemmas and the table of all questions: ``proofs/question.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from privclust._typing import Integers
from privclust.exceptions import DataError
from privclust.unit.base import UnitStep


@dataclass(frozen=True)
class Size:
    """Bounds on a table of integers."""

    l1: int  # on the sum of the absolute values
    square: int  # on the sum of the squares
    length: int  # on the Euclidean lengths of the table's rows, added up

    def __post_init__(self) -> None:
        _check_exact(self.l1, self.square, self.length)

    def times(self, count: int) -> Size:
        """Return bounds on the sum of ``count`` such tables."""
        return Size(count * self.l1, count**2 * self.square, count * self.length)


@dataclass(frozen=True)
class Term:
    """What one more row changes in a statistic, whatever the other rows are."""

    added: Size  # of the change by one row
    replaced: Size  # of the difference between the changes by two rows, given the same other rows
    # The sum of n terms, in each entry, is clipped to n times these; see :meth:`Question.held`.
    low: int | Integers
    high: int | Integers

    @classmethod
    def cells(cls, n_tables: int = 1) -> Term:
        """Return the term of tables of counts: a one in at most one cell of each."""
        return cls(Size(*[n_tables] * 3), Size(*[2 * n_tables] * 3), 0, 1)

    @classmethod
    def vector(
        cls, length: int, low: int | Integers | None = None, high: int | Integers | None = None
    ) -> Term:
        """Return the term of sums of integer vectors of bounded length, in one line of a table."""
        one = Size(length**2, length**2, length)
        entry = -length if low is None else low, length if high is None else high
        return cls(one, one.times(2), *entry)

    @classmethod
    def within(cls, width: int, n_entries: int = 1) -> Term:
        """Return the term of numbers that all change within an interval of this width."""
        one = Size(n_entries * width, n_entries * width**2, n_entries * width)
        return cls(one, one, 0, width)

    def over(self, step: UnitStep) -> Size:
        """Return bounds on what a step between neighbours changes."""
        return self.replaced if step.replaces else self.added.times(step.terms)


@dataclass(frozen=True)
class Scores:
    """What one more row adds to each score of one pick; the scores of other picks stay."""

    # Zero is between them, so that scores may be clipped to the range of the samplers.
    low: int
    high: int

    def __post_init__(self) -> None:
        _check_exact(self.low, self.high)
        if not self.low <= 0 <= self.high:
            raise ValueError(
                f"Scores that change by {self.low} to {self.high} cannot be clipped safely; "
                "declare bounds with zero between them."
            )

    def over(self, step: UnitStep) -> int:
        """Return how far apart a step moves the scores of a pick, added up over all picks."""
        return (2 if step.replaces else step.terms) * (self.high - self.low)


def _whole(total: Any) -> Integers:
    return np.asarray(total)


@dataclass(frozen=True)
class _Declared:
    """What questions and choices have in common."""

    of: str  # the question of the view, or the part of its answer
    term: Term | Scores  # what one more row changes
    # Extracts the exact integers from what the kernel adds up.
    part: Callable[[Any], Integers] = _whole
    base: int | Integers = 0  # public: what the entries are if there are no rows at all
    # Takes the number of rows; returns of how many terms an entry is the sum.
    terms: Callable[[int], int] = int

    def held(self, exact: Integers, n_rows: int) -> Integers:
        """Return the integers, clipped to what ``n_rows`` rows can add up to.

        No proof depends on this. For a correct kernel it changes nothing; a wrong one, even if it
        is off by 2^63, moves no answer by more than the rows could. See ``proofs/saturation.md``.
        """
        count, low, high = self.terms(n_rows), self.term.low, self.term.high
        if max(_largest(low), _largest(high)) * count + _largest(self.base) >= 2**63:
            raise DataError(
                "The data have more rows than 64-bit sums can hold; fit a part of them."
            )
        held: Integers = np.clip(exact, self.base + count * low, self.base + count * high)
        return held


@dataclass(frozen=True)
class Question(_Declared):
    """An integer statistic that leaves with noise on it."""

    term: Term
    step: float = 1.0  # what one step of the integers means
    # The dimension of vectors that are noised as a whole; 0 for numbers noised one by one.
    dimension: int = 0


@dataclass(frozen=True)
class Pick(_Declared):
    """Candidates, some of which are picked by exact scores; one row of them for each pick."""

    term: Scores
    # How it is picked, for the privacy statement, with the title, scale and epsilon in braces.
    words: str = "{title}"
    bounded: bool = False  # whether the pick has a bounded range in pure ε as well
    top: int | None = None  # how many are picked at once, best first
    turns: int = 1  # how many are picked in turn, about the same rows
    # Takes what was picked in earlier turns; returns the candidates that are left.
    left: Callable[[Sequence[int]], Sequence[int]] | None = None


Asked: TypeAlias = Question | Pick


def _check_exact(*bounds: int) -> None:
    # NumPy's integers wrap around when they are squared, and a bound could become too small.
    if not all(isinstance(bound, int) for bound in bounds):
        raise TypeError("Bounds must be Python's integers, which never wrap around.")


def _largest(bound: int | Integers) -> int:
    return int(np.abs(bound).max(initial=0))
