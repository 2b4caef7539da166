"""Mixed rows on the grid: distances are those declared, and codes stand for rows written out."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from privclust.data.encode import GRID_RADIUS
from privclust.data.papers.kernels import ZoneCounts
from privclust.data.papers.public import Zones
from privclust.data.points.kernels import ClusterSums, GroupSums, Moments, RowCount
from privclust.data.points.mixed import region_of
from privclust.data.points.public import Projection
from privclust.data.table.as_points import BinCoder
from privclust.exceptions import SchemaError
from privclust.holder.kernels import square_lengths
from privclust.reading.opening import open_rows
from privclust.schema.ball_fact import Ball
from privclust.schema.coordinates import Coordinates, project_shares
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema

SCHEMA = Schema(
    {
        "x": Box(0, 10, weight=2),
        "a": Categories(["p", "q", "r"]),
        "y": Box(-1, 1, missing=0.5),
        "b": Bins([0, 1, 2], missing="omit", weight=0.5),
        "one": Categories(["only"], unknown="error", weight=9),
    }
)
VALUES = {"x": [0, 4, 10], "a": ["p", "q", "r"], "y": [-1, None, 1], "b": [0.5, 1.5, None]}
ROWS = pd.DataFrame(list(product(*VALUES.values())), columns=list(VALUES)).assign(one="only")
REGION = region_of(SCHEMA, rescale=True)


def pieces_of(data, schema=SCHEMA, piece=2**18, block_rows=None):
    region = region_of(schema, rescale=True)
    with open_rows(data, schema.names, block_rows=block_rows) as source:
        return [part for block in source.blocks() for part in region.pieces(block, piece)]


def written_out(data, **cuts):
    return np.concatenate([part.dense().copy() for part in pieces_of(data, **cuts)])


def declared_square(one, other):
    """Return the squared distance of two rows as the schema declares it, without missing ones."""
    square = (2 * (one.x - other.x) / 10) ** 2 + (one.a != other.a)
    y = [0.5 if pd.isna(row.y) else row.y for row in (one, other)]
    return square + ((y[0] - y[1]) / 2) ** 2 + 0.25 * (one.b != other.b)


def test_two_rows_are_as_far_apart_as_is_declared():
    known = ROWS[ROWS["b"].notna()].reset_index(drop=True)
    grid = written_out(known) * REGION.radius / GRID_RADIUS
    for i, j in np.random.default_rng(0).integers(len(known), size=(200, 2)):
        square = ((grid[i] - grid[j]) ** 2).sum()
        assert square == pytest.approx(declared_square(known.loc[i], known.loc[j]), abs=1e-5)


def test_a_missing_value_that_is_left_out_is_as_near_to_one_category_as_to_another():
    rows = pd.DataFrame({"x": 4, "a": "p", "y": 0, "b": [0.5, 1.5, None], "one": "only"})
    grid = written_out(rows) * REGION.radius / GRID_RADIUS
    first, second, estimated_bias = grid
    assert ((estimated_bias - first) ** 2).sum() == pytest.approx(0.125, abs=1e-5)
    assert ((estimated_bias - second) ** 2).sum() == pytest.approx(0.125, abs=1e-5)


def test_every_row_of_the_domain_lies_in_the_ball_and_some_at_its_edge():
    lengths = np.linalg.norm(written_out(ROWS), axis=1)
    assert lengths.max() <= GRID_RADIUS + np.sqrt(REGION.dimension)
    assert lengths.max() >= 0.999 * GRID_RADIUS
    coordinates = Coordinates(SCHEMA)
    half = (coordinates.high - coordinates.low) / 2 / coordinates.scales(True)
    assert REGION.radius < 0.8 * np.linalg.norm(half)


@pytest.mark.parametrize("values", [["p"], ["p", "q"], ["p", "q", "r"]])
def test_a_missing_value_that_is_left_out_lies_in_the_ball(values):
    schema = Schema({"a": Categories(values, missing="omit", weight=3), "x": Box(0, 1)})
    rows = pd.DataFrame({"a": [*values, None], "x": 1.0})
    lengths = np.linalg.norm(written_out(rows, schema=schema), axis=1)
    assert lengths.max() <= GRID_RADIUS + np.sqrt(len(values) + 1)
    assert lengths.max() >= 0.999 * GRID_RADIUS


def test_values_beyond_the_bounds_are_at_them():
    far = ROWS.assign(x=ROWS["x"].map({0: -1e300, 4: 4, 10: np.float64(1e9)}))
    np.testing.assert_array_equal(written_out(far), written_out(ROWS))


def frames():
    """Return frames of all kinds: whole, projected, clipped, coarse."""
    rng = np.random.default_rng(1)
    d = REGION.dimension
    axes = np.linalg.qr(rng.normal(size=(d, 3)))[0]
    origin = 0.3 * rng.normal(size=d) / np.sqrt(d)
    yield Projection(np.zeros(d))
    yield Projection(origin, radius=0.4)
    yield Projection(origin, coarse=True)
    yield Projection(origin, axes)
    yield Projection(origin, axes, radius=0.3, coarse=True)


def statistics():
    rng = np.random.default_rng(2)
    yield RowCount()
    for frame in frames():
        centres = 0.4 * rng.normal(size=(4, frame.dimension))
        yield Moments(frame)
        for clip in (0.05, 0.5, 2.0):
            yield ClusterSums(frame, centres, clip)
            groups = np.array([0, 1, 1, 0])
            yield GroupSums(frame, centres, clip, groups=groups, n_groups=2)
    centres = 0.3 * rng.normal(size=(2, REGION.dimension))
    yield ZoneCounts(Zones(centres, centres, np.ones(2), np.stack([centres, -centres])))


@pytest.mark.parametrize("statistic", list(statistics()), ids=lambda one: type(one).__name__)
def test_codes_add_up_to_the_same_integers_as_rows_written_out(statistic):
    (coded,) = pieces_of(ROWS)
    rows = coded.dense().copy()
    one, other = statistic(coded), statistic(rows)
    for part in vars(one) if hasattr(one, "__dict__") else [None]:
        mine, theirs = (x if part is None else getattr(x, part) for x in (one, other))
        np.testing.assert_array_equal(mine, theirs)


def test_lengths_of_coded_rows_are_those_written_out():
    (coded,) = pieces_of(ROWS)
    np.testing.assert_array_equal(square_lengths(coded), (coded.dense() ** 2).sum(axis=1))


@pytest.mark.parametrize("cuts", [{"piece": 1}, {"piece": 20}, {"block_rows": 7}])
def test_rows_are_the_same_however_they_are_cut(cuts):
    np.testing.assert_array_equal(written_out(ROWS, **cuts), written_out(ROWS))


def test_kept_rows_come_back_and_take_few_bytes():
    (coded,) = pieces_of(ROWS)
    kept = coded.compact()
    np.testing.assert_array_equal(kept.restore().dense().copy(), coded.dense())
    assert kept.nbytes == len(ROWS) * (2 * 4 + 3) == len(ROWS) * REGION.row_bytes


# Shares


def test_shares_are_the_nearest_that_can_be():
    rng = np.random.default_rng(3)
    for size in (1, 2, 5):
        vectors = rng.normal(0.3, 0.6, (40, size))
        others = rng.dirichlet(np.ones(size), 300)
        found = project_shares(vectors)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        gaps = ((vectors[:, None] - others) ** 2).sum(axis=2).min(axis=1)
        assert (((vectors - found) ** 2).sum(axis=1) <= gaps + 1e-9).all()


def test_shares_may_lack_what_is_left_out():
    found = project_shares(np.array([[0.2, 0.3], [-0.1, 0.4], [0.9, 0.9]]), at_most=True)
    np.testing.assert_allclose(found, [[0.2, 0.3], [0, 0.4], [0.5, 0.5]])


def test_what_is_released_is_within_bounds_and_shares():
    points = np.random.default_rng(4).normal(size=(50, REGION.dimension))
    table, coordinates = REGION.in_data_units(points), Coordinates(SCHEMA)
    assert (table >= coordinates.low).all()
    assert (table <= coordinates.high).all()
    np.testing.assert_allclose(table[:, coordinates.columns[1].places].sum(axis=1), 1)
    assert (table[:, coordinates.columns[3].places].sum(axis=1) <= 1 + 1e-12).all()
    np.testing.assert_allclose(REGION.in_data_units(REGION.feasible(points)), table, atol=1e-9)


# Schemas that cannot be used


def test_a_ball_over_the_numbers_of_a_mixed_schema_is_refused():
    schema = Schema({"x": Box(0, 1), "a": Categories(["p", "q"])}, ball=Ball(1, [0.5]))
    with pytest.raises(SchemaError, match="with categories cannot have a Ball"):
        region_of(schema)


def test_a_schema_in_which_no_rows_differ_is_refused():
    with pytest.raises(SchemaError, match="only one category"):
        region_of(Schema({"a": Categories(["p"])}))


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), "2", None])
@pytest.mark.parametrize("fact", [lambda w: Box(0, 1, weight=w), lambda w: Bins([0, 1], weight=w)])
def test_a_weight_must_be_a_positive_number(fact, weight):
    with pytest.raises(SchemaError) as caught:
        fact(weight)
    assert str(caught.value).count(". ") == 0


def test_weights_survive_files_and_do_not_show_where_they_are_one():
    assert Schema.from_toml(SCHEMA.to_toml()) == SCHEMA
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA
    assert "weight" not in Schema({"x": Box(0, 1), "a": Categories(["p"])}).to_toml()
    assert Schema({"a": Categories(["p"], weight=2)}) != Schema({"a": Categories(["p"])})


def test_a_number_on_an_edge_belongs_to_the_bin_above_it():
    coder = BinCoder(Schema({"x": Box(0, 8), "y": Box(0, 1)}))
    (block,) = open_rows(pd.DataFrame({"x": np.arange(9.0), "y": 0.0}), ["x", "y"]).blocks()
    assert coder.codes(block)[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7]
