"""The private views of a matrix: exact sums, sensitivities, and what is debited."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from privclust.budget import Budget
from privclust.data.matrix import kernels
from privclust.data.matrix import rows as matrix_parts
from privclust.data.matrix import view as view_of_matrices
from privclust.data.matrix.kernels import ROW_STEPS
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView, _whole_weights
from privclust.exceptions import BudgetExceededError
from privclust.privacy.meter import Meter
from privclust.privacy.noise.exact import ExactNoise
from privclust.unit.matrix import MatrixCount, MatrixEntry

SMALL = arrays(np.int64, (5, 4), elements=st.integers(0, 6))
ROWS, COLUMNS = np.array([0, 1, 1, 2, 0], np.int32), np.array([1, 0, 1, 1], np.int32)


def csr(matrix):
    return sparse.csr_array(np.asarray(matrix, np.int64))


def members(labels, count):
    return np.eye(count, dtype=np.int64)[labels]


@given(SMALL)
def test_sums_over_groups_are_products_with_memberships(dense):
    counts, rows, columns = csr(dense), members(ROWS, 3), members(COLUMNS, 2)
    assert (kernels.row_sums(counts, COLUMNS, 2) == dense @ columns).all()
    assert (kernels.column_sums(counts, ROWS, 3) == rows.T @ dense).all()
    assert (kernels.block_sums(counts, ROWS, COLUMNS, (3, 2)) == rows.T @ dense @ columns).all()


def test_matrices_taken_in_pieces_give_the_same_sums(monkeypatch):
    dense = np.random.default_rng(0).integers(0, 5, (5, 4))
    whole = kernels.row_sums(csr(dense), COLUMNS, 2), kernels.column_sums(csr(dense), ROWS, 3)
    monkeypatch.setattr(matrix_parts, "PIECE", 3)
    assert (kernels.row_sums(csr(dense), COLUMNS, 2) == whole[0]).all()
    assert (kernels.column_sums(csr(dense), ROWS, 3) == whole[1]).all()


@given(SMALL, st.integers(0, 4), st.integers(0, 3), st.integers(1, 9))
def test_one_entry_moves_one_cell_of_each_table_by_its_own_change(dense, i, j, change):
    other = dense.copy()
    other[i, j] += change
    for table in (
        lambda m: kernels.row_sums(csr(m), COLUMNS, 2),
        lambda m: kernels.column_sums(csr(m), ROWS, 3),
        lambda m: kernels.block_sums(csr(m), ROWS, COLUMNS, (3, 2)),
    ):
        moved = table(other) - table(dense)
        assert np.count_nonzero(moved) == 1
        assert moved.sum() == change


@given(
    SMALL,
    st.integers(0, 4),
    st.integers(0, 3),
    st.integers(1, 9),
    arrays(np.float64, (4, 3), elements=st.floats(-5, 5)),
)
def test_one_entry_moves_the_scores_of_one_row_within_the_claimed_range(
    dense, i, j, change, weights
):
    other = dense.copy()
    other[i, j] += change
    whole = _whole_weights(weights)
    moved = kernels.row_scores(csr(other), whole) - kernels.row_scores(csr(dense), whole)
    assert not np.delete(moved, i, axis=0).any()
    assert moved[i].max() - moved[i].min() <= change * max(1, whole.max())
    assert whole.min() >= 0  # so that a score at its limit only moves less


@pytest.mark.parametrize("largest", [2**20, 2**40, 2**50])
def test_weights_are_so_coarse_that_no_score_leaves_int64(largest, monkeypatch):
    # At the true limit only tens of millions of columns would need coarser weights.
    monkeypatch.setattr(view_of_matrices, "LARGEST_ENTRY", largest)
    columns = 2**10
    whole = _whole_weights(np.random.default_rng(0).random((columns, 2)))
    assert int(whole.max()) * largest * columns < 2**63
    assert int(whole.max()) >= min(2**20, 2**62 // (largest * columns))


@given(arrays(np.int64, (3, 6), elements=st.integers(0, 2**31 - 1)))
def test_rooted_rows_are_never_longer_than_the_radius(dense):
    rooted = kernels.square_root_rows(csr(dense), ROW_STEPS).toarray()
    assert ((rooted.astype(object) ** 2).sum(axis=1) <= ROW_STEPS**2).all()
    filled = dense.sum(axis=1) > 0
    assert ((rooted[filled] ** 2).sum(axis=1) > 0.99 * ROW_STEPS**2).all()


@given(SMALL, st.integers(0, 4))
def test_a_rooted_row_depends_on_its_own_entries_alone(dense, i):
    alone = kernels.square_root_rows(csr(dense[i : i + 1]), ROW_STEPS).toarray()
    assert (kernels.square_root_rows(csr(dense), ROW_STEPS).toarray()[i] == alone[0]).all()


@pytest.mark.parametrize(("unit", "cap"), [(MatrixCount(), 1), (MatrixEntry(4), 4)])
def test_the_noise_of_a_table_is_that_of_its_unit(unit, cap):
    meter = Meter(Budget(1))
    view = MatrixView(csr(np.zeros((2000, 3))), unit, meter, ExactNoise())
    answer = view.ask_row_table("table", Groups(np.array([0, 1, 1]), 2), Budget(1).whole)
    assert meter.spent.pure == Fraction(1)
    spread = 1 / (np.sqrt(2) * np.sinh(1 / (2 * cap)))
    assert answer.standard_error == pytest.approx(spread)
    assert answer.value.std() == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize(("unit", "cap"), [(MatrixCount(), 1), (MatrixEntry(4), 4)])
def test_the_gaussian_noise_of_a_table_is_that_of_its_unit(unit, cap):
    budget = Budget(1, 1e-6)
    view = MatrixView(csr(np.ones((2, 3))), unit, Meter(budget), ExactNoise())
    answer = view.ask_total("sum of all", budget.whole)
    assert answer.standard_error == pytest.approx(cap / np.sqrt(2 * float(budget.amount)))


def test_nothing_is_answered_beyond_the_budget():
    view = MatrixView(csr(np.ones((3, 3))), MatrixCount(), Meter(Budget(1)), ExactNoise())
    view.ask_total("first", Budget(1).whole)
    with pytest.raises(BudgetExceededError):
        view.ask_row_choices("second", np.eye(3), Budget(1).whole)


def test_real_entries_come_back_in_their_own_unit():
    unit = MatrixEntry(cap=2.0, step=0.5)
    view = MatrixView(csr(np.full((50, 4), 3)), unit, Meter(Budget(1000)), ExactNoise())
    total = view.ask_total("total", Budget(1000).whole)
    assert total.value[0, 0] == pytest.approx(50 * 4 * 1.5, abs=1)


def test_labels_outside_their_groups_are_refused():
    with pytest.raises(ValueError, match="index of a group"):
        Groups(np.array([0, 2]), 2)
