"""Every exact statistic is the same, to the bit, however the rows are cut into blocks and pieces.

The draws of the mechanisms show the exact integers; they are compared between partitionings and
with a computation in Python's own integers.
"""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privclust.budget import Budget
from privclust.data.encode import GRID_RADIUS, Domain, clip_to_ball
from privclust.data.engines import local
from privclust.data.engines.base import use_engine
from privclust.data.points.kernels import SQUARE_LEVELS
from privclust.data.points.mixed import PIECE
from privclust.data.points.public import Projection
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.schema.ball_fact import Ball
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit.rows import Person
from support.transcripts import recorded_draws, squared_lengths
from support.views import view_of

SHARE = Budget(1).whole.take(0.1)
CUTS = st.fixed_dictionaries(
    {
        "block_rows": st.integers(1, 70),
        "piece": st.sampled_from([1, 5, 64, PIECE]),
        "threads": st.integers(1, 4),
        "kept_bytes": st.sampled_from([0, 100, None]),
    }
)


def random_rows(seed, n_rows, dimension):
    """Return rows in and around the box (-1, 1), some of them in its corners."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=0.7, size=(n_rows, dimension))
    corners = rng.random(n_rows) < 0.2
    rows[corners] = np.sign(rows[corners]) * rng.choice([1, 1e6], size=(corners.sum(), 1))
    return rows


def random_frame(seed, dimension):
    """Return a public view of the unit ball, projected and clipped in half of the cases each."""
    rng = np.random.default_rng(seed)
    origin = rng.uniform(-0.3, 0.3, dimension) / np.sqrt(dimension)
    axes = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    kept = axes[:, : rng.integers(1, dimension + 1)] if rng.random() < 0.5 else None
    radius = rng.choice([2.0, rng.uniform(0.2, 1.5)])
    return Projection(origin, kept, radius, coarse=bool(rng.random() < 0.5))


def ask_all(view, frame, seed):
    """Ask every question there is and return all answers."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=0.3, size=(rng.integers(1, 6), frame.dimension))
    clip = rng.uniform(0.05, 1.5)
    count = view.ask_count("count", SHARE)
    parts = {"counts": SHARE, "offsets": SHARE, "square": SHARE}
    answer = view.ask_clusters("clusters", frame, centres, clip, **parts)
    moments = view.ask_second_moments("moments", frame, SHARE)
    values = [count, answer.counts, answer.offsets, answer.square, moments]
    return [noisy.value for noisy in values]


@contextmanager
def in_parts(rows, cuts, **options):
    """Give a view of the rows in which blocks, pieces, threads and kept rows are as wanted."""
    cut = {name: cuts[name] for name in ("block_rows", "piece")}
    engine = local.LocalEngine(cuts["kept_bytes"])
    with patch.object(local, "_threads", lambda: cuts["threads"]), use_engine(engine):
        yield view_of(rows, **cut, **options)


def assert_same(answers, others):
    for one, other in zip(answers, others, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 7), CUTS)
def test_statistics_do_not_depend_on_the_partitioning(seed, n_rows, dimension, cuts):
    rows, frame = random_rows(seed, n_rows, dimension), random_frame(seed, dimension)
    with recorded_draws() as whole:
        answers = ask_all(view_of(rows), frame, seed)
    with in_parts(rows, cuts) as view, recorded_draws() as parts:
        assert_same(ask_all(view, frame, seed), answers)
    assert_same([draw.exact for draw in parts], [draw.exact for draw in whole])


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(2, 60), CUTS)
def test_seeded_answers_do_not_depend_on_the_partitioning(seed, n_rows, cuts):
    rows, frame = random_rows(seed, n_rows, 3), random_frame(seed, 3)
    answers = ask_all(view_of(rows, noise=ExactNoise(SeededBits(seed))), frame, seed)
    with in_parts(rows, cuts, noise=ExactNoise(SeededBits(seed))) as view:
        assert_same(ask_all(view, frame, seed), answers)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=50), st.integers(1, 3), CUTS)
def test_rows_of_people_do_not_depend_on_the_partitioning(people, max_rows, cuts):
    rows = random_rows(len(people), len(people), 2)
    data = pd.DataFrame(rows, columns=["x0", "x1"]).assign(who=people)
    schema, unit, frame = Schema.from_bounds(-1, 1, n_columns=2), Person("who", max_rows), WHOLE_2
    answers = ask_all(view_of(data, schema, unit), frame, 0)
    assert answers[0] == [sum(min(max_rows, people.count(person)) for person in set(people))]
    with in_parts(data, cuts, schema=schema, unit=unit) as view:
        assert_same(ask_all(view, frame, 0), answers)


WHOLE_2 = Projection(np.zeros(2))


def test_many_threads_over_many_blocks_lose_and_repeat_nothing():
    rows = random_rows(0, 3000, 2)
    with patch.object(local, "_threads", lambda: 8):
        answers = ask_all(view_of(rows, block_rows=7), WHOLE_2, 0)
    assert_same(answers, ask_all(view_of(rows), WHOLE_2, 0))
    assert answers[0] == [3000]


# Against Python's integers


def grid_of(domain, rows):
    """Return each row on the grid, put there alone."""
    return [[int(value) for value in domain.to_grid(row[None])[0]] for row in rows]


def brute_force_sums(grid, centres, clip):
    """Return counts, sums of clipped offsets, and the sum of squared clipped distances."""
    counts, square = [0] * len(centres), 0
    offsets = [[0] * len(centres[0]) for _ in centres]
    for row in grid:
        gaps = [[a - b for a, b in zip(row, centre, strict=True)] for centre in centres]
        lengths = squared_lengths(gaps)
        label = lengths.index(min(lengths))
        gap, length = gaps[label], lengths[label]
        if length > clip**2:
            gap = clip_to_ball(np.array([gap], float), clip)[0]
        counts[label] += 1
        offsets[label] = [a + int(b) for a, b in zip(offsets[label], gap, strict=True)]
        square += min(length * SQUARE_LEVELS // clip**2, SQUARE_LEVELS)
    return counts, offsets, square


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 5), st.integers(1, 5))
def test_cluster_sums_are_those_of_exact_integers(seed, n_rows, dimension, n_centres):
    rng = np.random.default_rng(seed)
    rows = random_rows(seed, n_rows, dimension)
    # On a coarse lattice, so that many rows are exactly between two centres.
    rows = np.where(rng.random(rows.shape) < 0.5, np.round(rows * 4) / 4, rows)
    origin = np.round(rng.uniform(-0.3, 0.3, dimension), 1)
    centres = np.round(rng.uniform(-0.5, 0.5, (n_centres, dimension)), 1)
    clip = rng.uniform(0.01, 1.5)
    view = view_of(rows)
    with recorded_draws() as draws:
        parts = {"counts": SHARE, "offsets": SHARE, "square": SHARE}
        view.ask_clusters("clusters", Projection(origin), centres, clip, **parts)
    shift = [round(value * GRID_RADIUS) for value in origin]
    grid = [[a - b for a, b in zip(row, shift, strict=True)] for row in grid_of(view.domain, rows)]
    targets = [[round(value * GRID_RADIUS) for value in centre] for centre in centres]
    counts, offsets, square = brute_force_sums(grid, targets, int(clip * GRID_RADIUS))
    assert draws[0].exact.tolist() == counts
    assert draws[1].exact.tolist() == offsets
    # A squared distance is rounded down to a level by a division that may round across it.
    assert abs(int(draws[2].exact[0]) - square) <= n_rows


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 5))
def test_second_moments_are_those_of_exact_integers(seed, n_rows, dimension):
    rows = random_rows(seed, n_rows, dimension)
    view = view_of(rows)
    with recorded_draws() as draws:
        view.ask_second_moments("moments", Projection(np.zeros(dimension), radius=0.5), SHARE)
    steps, expected = 128, np.zeros((dimension, dimension), object)
    for row in grid_of(view.domain, rows):
        clipped = clip_to_ball(np.array([row], float), GRID_RADIUS // 2)
        small = clip_to_ball(np.rint(clipped * (steps / (GRID_RADIUS // 2))), steps)[0]
        vector = np.array([int(value) for value in small], object)
        expected += np.outer(vector, vector)
    upper = np.triu_indices(dimension)
    weights = np.where(upper[0] == upper[1], 5, 7)
    assert draws[0].exact[0].tolist() == (expected[upper] * weights).tolist()


def test_coarse_frames_find_the_nearest_centre_exactly():
    rng = np.random.default_rng(0)
    rows = np.round(rng.uniform(-1, 1, (5000, 3)), 1)
    centres = np.round(rng.uniform(-0.5, 0.5, (40, 3)), 1)
    frame = Projection(np.zeros(3), radius=1.5, coarse=True)
    view = view_of(rows)
    with recorded_draws() as draws:
        view.ask_clusters("clusters", frame, centres, 1.0, counts=SHARE)
    step = 1.5 / 2**11
    grid = np.rint(view.domain.to_grid(rows) / (GRID_RADIUS * step)).astype(np.int64)
    targets = np.rint(centres / step).astype(np.int64)
    squares = ((grid[:, None, :] - targets) ** 2).sum(axis=2)
    expected = np.bincount(squares.argmin(axis=1), minlength=40)
    assert draws[0].exact.tolist() == expected.tolist()


# Each row by itself


@given(st.integers(0, 2**32), st.integers(1, 8), st.booleans(), st.booleans())
def test_a_row_on_the_grid_depends_on_no_other_row(seed, dimension, rescale, ball):
    rng = np.random.default_rng(seed)
    low = rng.normal(size=dimension) * 10.0 ** rng.integers(-6, 9)
    high = low + rng.uniform(0.1, 1, dimension) * 10.0 ** rng.integers(-6, 9)
    radius = 0.4 * float(np.linalg.norm(high - low))
    facts = {f"x{j}": Box(low[j], high[j]) for j in range(dimension)}
    joint = Ball(radius, (low + high) / 2) if ball else None
    domain = Domain.from_schema(Schema(facts, ball=joint), rescale=rescale and not ball)
    rows = rng.uniform(low - (high - low), high + (high - low), (20, dimension))
    together = domain.to_grid(rows)
    alone = np.concatenate([domain.to_grid(row[None]) for row in rows])
    np.testing.assert_array_equal(together, alone, strict=True)
    np.testing.assert_array_equal(together, np.rint(together))
    longest = GRID_RADIUS if ball else GRID_RADIUS + np.sqrt(dimension)
    assert max(squared_lengths(together.astype(np.int64))) <= longest**2


@given(
    st.integers(1, 2**21),
    st.lists(st.lists(st.integers(-(2**22), 2**22), min_size=3, max_size=3), min_size=1),
    st.integers(1, 40),
)
def test_clipped_rows_never_exceed_the_radius(radius, rows, repeats):
    grid = np.tile(np.array(rows, float), repeats)
    short = [square <= radius**2 for square in squared_lengths(grid.astype(np.int64))]
    clipped = clip_to_ball(grid.copy(), radius)
    np.testing.assert_array_equal(clipped, np.trunc(clipped))
    assert max(squared_lengths(clipped.astype(np.int64))) <= radius**2
    np.testing.assert_array_equal(clipped[short], grid[short])
    # Direction and length are kept up to the rounding of each coordinate towards zero.
    lengths = np.sqrt(np.array(squared_lengths(grid.astype(np.int64)), float))
    factors = np.minimum(1, radius / np.maximum(lengths, 1))
    assert (abs(clipped - grid * factors[:, None]) <= 1 + 1e-6).all()


@pytest.mark.parametrize("radius", [1, 3, 1000, 2**20 - 1, 2**20, 2**21])
def test_rows_at_and_just_beyond_the_radius(radius):
    rows = np.array([[radius, 0], [radius, 1], [-radius, radius], [0, radius + 1]], float)
    clipped = clip_to_ball(rows.copy(), radius)
    assert clipped[0].tolist() == rows[0].tolist()
    assert max(squared_lengths(clipped.astype(np.int64))) <= radius**2
