"""Neighbours change what a matrix is asked by the sensitivity that was drawn for, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every_question import _PROFILES, BUDGET, WEIGHTS, exact_draws, seeded
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from privclust.budget import Budget
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.privacy.meter import Meter
from privclust.unit.matrix import MatrixCount, MatrixEntry
from support.terms import unguarded

ROWS = arrays(np.int64, (3, 3), elements=st.integers(0, 50))


def csr(dense: Any) -> Any:
    return sparse.csr_array(np.asarray(dense, np.int64))


def asked_of_rows(method: str, dense: Any) -> tuple[Any, Any]:
    """Return the mechanism of a question about whole rows, and the exact integers it is given."""
    with unguarded(), exact_draws() as draws:
        view = ProfilesView(csr(dense), Meter(BUDGET), seeded())
        _PROFILES[method](view, BUDGET.whole)
    return draws[0]


@given(ROWS, st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_a_row_more_changes_shares_of_blocks_by_no_more_than_was_drawn_for(
    rows: Any, row: list[int]
) -> None:
    mechanism, before = asked_of_rows("block_shares", rows)
    _, after = asked_of_rows("block_shares", [*rows, row])
    moved = (after - before).astype(object)
    assert (moved >= 0).all()
    assert int(moved.sum()) ** 2 <= mechanism.squared_l2_sensitivity
    assert np.count_nonzero(moved.any(axis=1)) <= 1
    if any(row) and (row[0] == 0 or row[1] == row[2] == 0):  # all in one group: the worst case
        assert int((moved**2).sum()) >= 0.99 * mechanism.squared_l2_sensitivity


@given(ROWS, st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_a_row_more_changes_profiles_by_the_sensitivity_drawn_for(
    rows: Any, row: list[int]
) -> None:
    mechanism, before = asked_of_rows("profile_sums", rows)
    _, after = asked_of_rows("profile_sums", [*rows, row])
    moved = int(((after - before).astype(object) ** 2).sum())
    assert moved <= mechanism.squared_l2_sensitivity
    assert moved >= 0.99 * mechanism.squared_l2_sensitivity or not any(row)


def chosen(dense: Any, unit: Any, *, by_rows: bool, weights: Any = WEIGHTS) -> tuple[Any, Any]:
    """Return the mechanism of a choice, and its exact scores."""
    with unguarded(), exact_draws() as draws:
        view = MatrixView(csr(dense), unit, Meter(BUDGET), seeded())
        ask = view.ask_row_choices if by_rows else view.ask_column_choices
        ask("q", weights, BUDGET.whole)
    return draws[0]


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize(("unit", "largest"), [(MatrixCount(), 1), (MatrixEntry(4), 4)])
def test_an_entry_moves_scores_apart_by_the_range_drawn_for(
    unit: Any, largest: int, by_rows: bool
) -> None:
    """The most, where the weights of its place are furthest apart, is all of the range."""
    used, dense = [], np.zeros((3, 3), np.int64)
    mechanism, before = chosen(dense, unit, by_rows=by_rows)
    for place in np.ndindex(3, 3):
        other = dense.copy()
        other[place] = largest
        moved = chosen(other, unit, by_rows=by_rows)[1] - before
        assert np.count_nonzero(moved.any(axis=1)) <= 1
        used.append(int((moved.max(axis=1) - moved.min(axis=1)).max()))
    assert max(used) == mechanism.score_range


# Scores of many large entries


@pytest.mark.parametrize("entry", [2**20, 2**31 - 1])
def test_a_long_row_of_large_entries_picks_its_group_like_any_other(entry: int) -> None:
    """Scores neither overflow nor pass what the samplers take, for an error would tell of them."""
    lavish = Budget(10**6)
    columns = 2**13
    weights = np.column_stack([np.full(columns, 0.5), np.zeros(columns), np.ones(columns)])
    weights[0, 0] = 1.0
    view = MatrixView(csr(np.full((1, columns), entry)), MatrixCount(), Meter(lavish), seeded())
    picked = view.ask_row_choices("q", weights[:, :2], lavish.whole)
    assert picked.labels.tolist() == [0]


def test_entries_are_cut_off_so_that_no_sum_wraps_around() -> None:
    """2^13 entries of 2^31 - 1, times weights of 2^20, would be 2^64."""
    lavish = Budget(10**6)
    columns = 2**13
    weights = np.column_stack([np.zeros(columns), np.ones(columns)])
    view = MatrixView(csr(np.full((1, columns), 2**31 - 1)), MatrixCount(), Meter(lavish), seeded())
    with exact_draws() as draws:
        assert view.ask_row_choices("q", weights, lavish.whole).labels.tolist() == [1]
    assert draws[0][1].tolist() == [[0, 2**52]]
