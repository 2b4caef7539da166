"""What a row more can change, and what a step between neighbours makes of it: all cases tried."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from privclust.data.question import Question, Scores, Size, Term
from privclust.exceptions import DataError
from privclust.unit.base import UnitStep
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow

UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 3)]


def size_of(table: Any) -> Size:
    """Return the exact size of a table, whose lengths are whole numbers here."""
    lengths = [float(np.sqrt((line**2).sum())) for line in table]
    assert all(length == int(length) for length in lengths)
    return Size(int(np.abs(table).sum()), int((table**2).sum()), int(sum(lengths)))


def changes(step: UnitStep, terms: list[Any]) -> list[Any]:
    """Return every change by a step, of a sum of terms of which each row has one."""
    if step.replaces:
        return [new - old for old, new in product(terms, terms)]
    return [sum(chosen) for chosen in product(terms, repeat=step.terms)]


def largest(tables: list[Any]) -> Size:
    sizes = [size_of(table) for table in tables]
    return Size(
        *(max(getattr(size, name) for size in sizes) for name in ("l1", "square", "length"))
    )


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_counts_change_by_what_their_term_makes_of_a_step_and_no_more(unit: Any) -> None:
    """Two tables of two cells, noised one by one; a row stands in one cell of each, or in none."""
    rows = [np.array([[*one, *two]]).T for one, two in product(((1, 0), (0, 1), (0, 0)), repeat=2)]
    assert largest(changes(unit.one_step, rows)) == Term.cells(2).over(unit.one_step)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_vectors_change_by_what_their_term_makes_of_a_step_and_no_more(unit: Any) -> None:
    """In one dimension or along an axis: only there do whole vectors have whole lengths."""
    axes = [sign * 5 * np.eye(2, dtype=int)[:, [line]].T for sign in (-1, 1) for line in (0, 1)]
    rows = [np.concatenate([axis, 0 * axis]) for axis in axes if axis[0, 0]]
    found, term = largest(changes(unit.one_step, rows)), Term.vector(5).over(unit.one_step)
    assert (found.square, found.length) == (term.square, term.length)
    # For integers |x| ≤ x², so the square bounds the sum of absolute values; ±1 attain it.
    ones = [sign * np.ones((1, 4), int) for sign in (-1, 1)]
    assert largest(changes(AddRemoveRow().one_step, ones)).l1 == Term.vector(2).added.l1


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_numbers_within_an_interval_change_by_its_width_for_each_row(unit: Any) -> None:
    rows = [np.array([[one], [two]]) for one, two in product((0, 3, 7), repeat=2)]
    assert largest(changes(unit.one_step, rows)) == Term.within(7, 2).over(unit.one_step)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_scores_move_apart_by_their_spread_for_each_row(unit: Any) -> None:
    """Two picks of three candidates; a row moves the scores of one pick, from -2 to 1."""
    of_one = [np.array(scores) for scores in product((-2, 0, 1), repeat=3)]
    rows = [
        np.stack(pick) for scores in of_one for pick in ((scores, 0 * scores), (0 * scores, scores))
    ]
    if unit.one_step.terms > 1:  # all would be too many
        rows = [row for row in rows if np.ptp(row) == 3]
    moved = max(np.ptp(change, axis=1).sum() for change in changes(unit.one_step, rows))
    assert moved == Scores(-2, 1).over(unit.one_step)


@pytest.mark.parametrize(("low", "high"), [(1, 2), (-2, -1), (1, -1)])
def test_scores_that_must_move_are_refused(low: int, high: int) -> None:
    """If all moved by 5 their range would be 0, but up to 5 once some of them are cut off."""
    with pytest.raises(ValueError, match="declare bounds with zero between them"):
        Scores(low, high)


@pytest.mark.parametrize(
    "declared",
    [
        lambda: Term.vector(np.int64(2**32)),
        lambda: Term.within(np.int64(2**32)),
        lambda: Term.cells(np.int64(1)),
        lambda: Scores(np.int64(-(2**62)), np.int64(2**62)),
        lambda: Term.vector(0.5),
    ],
)
def test_bounds_that_could_wrap_around_are_refused(declared: Any) -> None:
    """The square of 2^32 is 0 in 64 bits, and the noise for it would be none."""
    with np.errstate(over="ignore"), pytest.raises(TypeError, match="never wrap around"):
        declared()


@pytest.mark.parametrize(("terms", "replaces"), [(0, False), (-1, False), (2, True)])
def test_a_step_that_is_none_is_refused(terms: int, replaces: bool) -> None:
    with pytest.raises(ValueError, match="at least one term"):
        UnitStep(terms, replaces)


def test_sums_are_held_to_what_their_rows_add_up_to() -> None:
    asked = Question("q", Term.within(3), base=np.array([10, 20]))
    assert asked.held(np.array([-(2**62), 2**62]), 2).tolist() == [10, 26]
    assert asked.held(np.array([12, 21]), 2).tolist() == [12, 21]
    few = Question("q", Term.vector(3), terms=lambda n_rows: 1)
    assert few.held(np.array([-9, 9]), 100).tolist() == [-3, 3]


def test_sums_that_could_wrap_around_are_refused() -> None:
    asked = Question("q", Term.within(2**40))
    assert asked.held(np.array([5]), 2**22).tolist() == [5]
    with pytest.raises(DataError, match="more rows than 64-bit sums can hold"):
        asked.held(np.array([5]), 2**23)
