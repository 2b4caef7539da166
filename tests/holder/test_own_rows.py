"""What the holder of rows is told about them is what plain arithmetic says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from privclust.data.table.as_points import BinCoder
from privclust.data.table.public import ValuePoints
from privclust.holder.answers import OwnMatrix, OwnPoints, OwnTable
from privclust.opening.matrices import open_matrix
from privclust.opening.rows import open_points, open_table
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.matrix import MatrixCount, MatrixRow

ROWS = np.random.default_rng(0).uniform(0, 4, (50, 2))
CENTRES = np.array([[0.5, 0.5], [3.5, 0.7], [2.0, 3.0]])


def test_labels_distances_and_inertia_of_points() -> None:
    own = OwnPoints(open_points(ROWS, bounds=(0, 4)))
    right = cdist(ROWS, CENTRES)
    np.testing.assert_array_equal(own.labels(CENTRES), right.argmin(axis=1))
    np.testing.assert_allclose(own.distances(CENTRES), right, atol=1e-6)
    assert own.inertia(CENTRES) == pytest.approx((right.min(axis=1) ** 2).sum())


MIXED = Schema({"x": Box(0, 4), "a": Categories(list("abc"))})


def mixed_rows() -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of a number and a letter, and the same with a share for each letter."""
    letters = np.random.default_rng(2).choice(list("abc"), len(ROWS))
    shares = np.eye(3)[np.searchsorted(list("abc"), letters)]
    return pd.DataFrame({"x": ROWS[:, 0], "a": letters}), np.column_stack([ROWS[:, 0], shares])


def test_distances_of_mixed_rows_count_a_mismatch_as_one() -> None:
    frame, coordinates = mixed_rows()
    centres = np.array([[0.5, 1.0, 0.0, 0.0], [3.0, 0.2, 0.3, 0.5]])
    scales = np.array([1, *[np.sqrt(2)] * 3])
    right = cdist(coordinates / scales, centres / scales)
    own = OwnPoints(open_points(frame, schema=MIXED))
    np.testing.assert_allclose(own.distances(centres), right, atol=1e-4)
    np.testing.assert_array_equal(own.labels(centres), right.argmin(axis=1))


def test_rows_are_seen_as_points_of_an_embedding() -> None:
    """Numbers are in bins there, and a row is the sum of the points of its values."""
    frame, coordinates = mixed_rows()
    coder = BinCoder(MIXED)
    values = np.random.default_rng(3).normal(size=(sum(coder.sizes), 2))
    own = OwnPoints(open_points(frame, schema=MIXED))
    own.use_value_points(values)
    bins = (coordinates[:, 0] / 4 * coder.sizes[0]).astype(int)
    places = values[bins] + values[coder.sizes[0] + coordinates[:, 1:].argmax(axis=1)]
    centres = np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, 1.0]])
    np.testing.assert_allclose(own.distances(centres), cdist(places, centres), atol=1e-6)
    np.testing.assert_array_equal(own.labels(centres), cdist(places, centres).argmin(axis=1))


def test_labels_and_coordinates_of_categories() -> None:
    """The middle centre is the longest, and not the nearest of all rows for it."""
    letters = np.random.default_rng(1).choice(list("abc"), (40, 2))
    frame = pd.DataFrame(letters, columns=["x", "y"])
    values = [np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])] * 2
    own = OwnTable(open_table(frame, Schema(dict.fromkeys("xy", Categories(list("abc"))))))
    codes = np.searchsorted(list("abc"), letters)
    np.testing.assert_array_equal(own.codes(), codes)
    points = sum(values[column][codes[:, column]] for column in range(2))
    centres = np.array([[0.2, 0.3], [2.5, 2.5], [1.6, 0.1]])
    labels = np.concatenate([*own.label_parts(ValuePoints(values), centres)])
    np.testing.assert_array_equal(labels, cdist(points, centres).argmin(axis=1))
    assert set(labels.tolist()) == {0, 2}
    side_by_side = np.concatenate([values[column][codes[:, column]] for column in range(2)], axis=1)
    np.testing.assert_array_equal(own.coordinates([*enumerate(values)]), side_by_side)


@pytest.mark.parametrize(("unit", "right"), [(MatrixCount(), [1, 1]), (MatrixRow(), [0, 1])])
def test_rows_of_a_matrix_are_weighed_by_counts_or_by_their_roots(unit, right) -> None:
    counts = np.array([[4, 4, 9], [0, 0, 16]])
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    own = OwnMatrix(open_matrix(counts, unit=unit))
    assert own.labels(weights).tolist() == right
