"""A source is embedded and projected by itself, to the last bit: alone and beside any others.

Sums over a row are rounded. If that depended on how many rows there are, or on how they lie in
memory, one source more could move another one across the border of a bin.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privclust.budget import Budget
from privclust.data.encode import Domain
from privclust.data.sites.distances import METRICS
from privclust.data.sites.public import Rings, TargetSpace
from privclust.reading.opening import open_rows
from privclust.schema.schema import Schema
from source_target.source_doubles import view_of
from support.transcripts import recorded_draws

COORDINATES = [name for name, metric in METRICS.items() if metric.has_coordinates]
# Columns of the data, and how many they are projected on.
SIZES = [(2, 1), (10, 1), (10, 3), (30, 5), (64, 8)]
CASES = [
    (metric, columns, projected)
    for metric in COORDINATES
    for columns, onto in SIZES
    if columns == 2 or METRICS[metric].column_names is None
    for projected in (None, onto)
]


def space_of(metric, columns, projected, rng):
    """Return a space around random targets."""
    targets = METRICS[metric].embed(rng.uniform(-80, 80, (12, columns)))
    axes = None
    if projected is not None:
        axes = np.linalg.qr(rng.normal(size=(targets.shape[1], targets.shape[1])))[0]
        axes = np.asfortranarray(axes[:, :projected])
        targets = np.einsum("ij,jk->ik", targets, axes)
    return TargetSpace(targets, METRICS[metric], axes)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize(("metric", "columns", "projected"), CASES)
def test_a_row_is_placed_alike_alone_and_beside_others(metric, columns, projected, layout):
    rng = np.random.default_rng(0)
    space = space_of(metric, columns, projected, rng)
    rows = rng.uniform(-80, 80, (200, columns))
    alone = np.concatenate([space.place(rows[i : i + 1]) for i in range(len(rows))])
    for height in (2, 3, 7, 50, 200):
        for start in range(0, len(rows), height):
            beside = space.place(np.array(rows[start : start + height], order=layout))
            np.testing.assert_array_equal(beside, alone[start : start + height])


HOLDERS = {
    "array": lambda rows: rows,
    "array by columns": np.asfortranarray,
    "transposed": lambda rows: np.ascontiguousarray(rows.T).T,
    "every second row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "pandas": pd.DataFrame,
    "arrow": lambda rows: pa.table({f"x{i}": column for i, column in enumerate(rows.T)}),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("metric", COORDINATES)
def test_rows_that_are_read_one_by_one_are_placed_alike(metric, holder):
    rng = np.random.default_rng(1)
    columns = 2 if METRICS[metric].column_names else 10
    space = space_of(metric, columns, 2, rng)
    rows = rng.uniform(-80, 80, (60, columns))
    domain = Domain.from_schema(Schema.from_bounds(-80, 80, n_columns=columns))
    placed = []
    for data, block_rows in ((rows, 1), (holder(rows), 1), (holder(rows), 7), (holder(rows), 60)):
        blocks = open_rows(data, block_rows=block_rows).blocks()
        placed.append(np.concatenate([space.place(domain.rows(block)) for block in blocks]))
    for other in placed[1:]:
        np.testing.assert_array_equal(other, placed[0])


@pytest.mark.parametrize("metric", COORDINATES)
def test_questions_about_rows_that_are_read_one_by_one_have_the_same_answers(metric):
    rng = np.random.default_rng(2)
    space = space_of(metric, 2, 2, rng)
    edges = np.array([0, 0.5, 1.0]) * space.radius
    rings = Rings(edges, (space.targets[:3], space.targets[3:]))
    rows, share = rng.uniform(-3, 4, (80, 2)), Budget(1).whole.take(0.2)
    exact = []
    for block_rows in (1, 80):
        view, _ = view_of(rows, Budget(1), space=space, block_rows=block_rows)
        with recorded_draws() as draws:
            view.ask_histogram("bins", rings, share)
            view.ask_cells("cells", space.targets, counts=share, sums=share)
            view.ask_nearest_averages("averages", space.targets, 5, share)
            view.ask_nearest_distance("distance", space.targets, 5, share)
        exact.append([draw.exact.tolist() for draw in draws])
    assert exact[0] == exact[1]
