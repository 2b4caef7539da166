"""Neighbouring pairs differ in exactly one record, and in the way their name says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.audit.neighbours import (
    NeighbourPair,
    another_order,
    duplicate_mass,
    far_outlier,
    fewer_rows_than_clusters,
    matrix_pairs,
    missing_value,
    one_entry,
    point_pairs,
    rare_category,
    single_count_row,
    single_row,
    single_row_cluster,
    table_pairs,
)

UNITS = ["add-remove-row", "replace-row"]
POINTS = np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.3]])
TABLE = np.array([["red", 1], ["red", 2], ["blue", 1]], dtype=object)


def differing_rows(pair):
    """Return how many rows each side has that the other has not, counted with repetition."""
    left, right = (Counter(repr(row.tolist()) for row in side) for side in (pair.left, pair.right))
    return (left - right).total(), (right - left).total()


def assert_neighbours(pair):
    if pair.unit == "add-remove-row":
        assert differing_rows(pair) == (0, 1)
    elif pair.unit == "replace-row":
        assert differing_rows(pair) == (1, 1)
    else:
        assert pair.unit == "matrix-entry"
        assert pair.left.shape == pair.right.shape
        assert np.count_nonzero(pair.left != pair.right) == 1
        assert min(pair.left.min(), pair.right.min()) >= 0


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)), min_size=1, max_size=4),
    st.integers(2, 6),
    st.integers(2, 30),
    st.sampled_from(UNITS),
)
def test_every_pair_of_points_differs_in_one_row(sides, n_clusters, n_rows, unit):
    lower = np.array([low for low, _ in sides])
    upper = lower + [side for _, side in sides]
    pairs = point_pairs(lower, upper, n_clusters=n_clusters, n_rows=n_rows, unit=unit)
    assert {pair.unit for pair in pairs} == {unit}
    assert len({pair.name for pair in pairs}) == len(pairs) == 8
    for pair in pairs:
        assert_neighbours(pair)
        assert pair.left.shape[1] == pair.right.shape[1] == len(lower)
        assert repr(pair.right[-1].tolist()) not in map(repr, pair.left.tolist())


@given(
    st.lists(st.integers(2, 5), min_size=2, max_size=4),
    st.integers(2, 4),
    st.integers(2, 30),
    st.sampled_from(UNITS),
)
def test_every_pair_of_tables_differs_in_one_row(sizes, n_clusters, n_rows, unit):
    categories = [[f"{column}-{value}" for value in range(n)] for column, n in enumerate(sizes)]
    pairs = table_pairs(categories, n_clusters=n_clusters, n_rows=n_rows, unit=unit)
    assert {pair.unit for pair in pairs} == {unit}
    assert len({pair.name for pair in pairs}) == len(pairs) == 7
    for pair in pairs:
        assert_neighbours(pair)
        cells = {cell for side in (pair.left, pair.right) for cell in side.ravel()}
        assert cells <= {value for column in categories for value in column} | {None}
        if pair.name in ("emptied cluster", "rare category"):
            assert pair.right[-1].tolist() not in pair.left.tolist()


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 20))
def test_every_pair_of_matrices_differs_in_one_entry(n_rows, n_columns, largest):
    for pair in matrix_pairs(n_rows, n_columns, largest=largest):
        assert_neighbours(pair)


@pytest.mark.parametrize("unit", UNITS)
def test_far_outlier_lies_in_the_farthest_corner_or_beyond(unit):
    pair = far_outlier(POINTS, [0, 0], [1, 2], unit=unit)
    np.testing.assert_array_equal(pair.right[-1], [1, 2])
    beyond = far_outlier(POINTS, [0, 0], [1, 2], distance=3, unit=unit)
    np.testing.assert_array_equal(beyond.right[-1], [4, 8])
    below = far_outlier(1 - POINTS, [0, 0], [1, 1], distance=1, unit=unit)
    np.testing.assert_array_equal(below.right[-1], [-1, -1])
    assert_neighbours(pair)


@pytest.mark.parametrize("unit", UNITS)
def test_emptied_cluster_has_no_row_on_the_left(unit):
    pair = single_row_cluster([[0.0], [5.0], [9.0]], copies=4, unit=unit)
    assert 9.0 not in pair.left
    assert np.count_nonzero(pair.right == 9.0) == 1
    assert_neighbours(pair)


def test_duplicate_mass_may_gain_one_more_duplicate():
    pair = duplicate_mass([1.0, 2.0], [1.0, 2.0], copies=3)
    assert pair.left.shape == (3, 2)
    assert_neighbours(pair)
    with pytest.raises(ValueError, match="no other row to replace"):
        duplicate_mass([1.0, 2.0], [1.0, 2.0], unit="replace-row")


@pytest.mark.parametrize("unit", UNITS)
def test_another_order_is_that_of_the_other_rows(unit):
    pair = another_order(POINTS, [9.0, 9.0], unit=unit)
    kept = 3 if unit == "add-remove-row" else 2
    np.testing.assert_array_equal(pair.right[:-1], POINTS[:kept][::-1])
    assert pair.right[-1].tolist() == [9.0, 9.0]
    assert_neighbours(pair)


@pytest.mark.parametrize("unit", UNITS)
def test_missing_value_is_nan_among_numbers_and_none_in_tables(unit):
    points, table = missing_value(POINTS, 1, unit=unit), missing_value(TABLE, 1, unit=unit)
    assert np.isnan(points.right[-1, 1])
    assert table.right[-1, 1] is None
    assert_neighbours(points)
    assert_neighbours(table)


def test_missing_value_fits_into_rows_of_integers():
    assert np.isnan(missing_value([[1, 2], [3, 4]], 0).right[-1, 0])


@pytest.mark.parametrize("unit", UNITS)
def test_rare_category_occurs_once(unit):
    pair = rare_category(TABLE, 0, "ultramarine", unit=unit)
    assert "ultramarine" not in pair.left
    assert (pair.right == "ultramarine").sum() == 1
    assert_neighbours(pair)
    with pytest.raises(ValueError, match="already has 'blue'"):
        rare_category(TABLE, 0, "blue")


def test_single_row_stands_against_none_or_another():
    alone, replaced = single_row([1.0, 2.0]), single_row([1.0, 2.0], [0.0, 0.0])
    assert alone.left.shape == (0, 2)
    assert alone.right.shape == replaced.left.shape == (1, 2)
    assert_neighbours(alone)
    assert_neighbours(replaced)


@pytest.mark.parametrize("unit", UNITS)
def test_fewer_rows_than_clusters(unit):
    pair = fewer_rows_than_clusters(POINTS, 3, unit=unit)
    assert len(pair.left) == 2
    assert_neighbours(pair)
    with pytest.raises(ValueError, match="pass more rows"):
        fewer_rows_than_clusters(POINTS, 4)


def test_one_entry_changes_by_what_was_asked():
    pair = one_entry([[0, 3], [1, 0]], 0, 1, change=-2)
    assert (pair.left[0, 1], pair.right[0, 1]) == (3, 1)
    for change in (0, -4):
        with pytest.raises(ValueError, match="zero or above"):
            one_entry([[0, 3], [1, 0]], 0, 1, change=change)


def test_emptied_row_keeps_one_count_on_the_right():
    pair = single_count_row([[2, 3], [4, 5]], 1)
    assert (pair.left[1].sum(), pair.right[1].sum()) == (0, 1)
    assert_neighbours(pair)


def test_generators_leave_their_input_alone():
    points, matrix = POINTS.copy(), np.ones((2, 2))
    missing_value(points, 0, unit="replace-row")
    single_count_row(matrix, 0)
    np.testing.assert_array_equal(points, POINTS)
    np.testing.assert_array_equal(matrix, np.ones((2, 2)))


def test_a_pair_can_be_converted():
    pair = single_row([1.0]).map(np.ndarray.tolist)
    assert (pair.left, pair.right) == ([], [[1.0]])
    assert (pair.name, pair.unit) == ("single row", "add-remove-row")
    assert NeighbourPair("mine", 0, 1).unit is None


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: far_outlier(POINTS, [0, 0], [1, 1], unit="person"), "unit must be"),
        (lambda: single_row_cluster([1.0, 2.0]), "shape"),
        (lambda: point_pairs([0], [1], n_clusters=1), "at least 2"),
        (lambda: table_pairs([["only"]]), "at least two categories"),
        (lambda: table_pairs([["a", "b"]], n_clusters=3), "lower n_clusters"),
    ],
)
def test_errors_say_what_to_do(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
