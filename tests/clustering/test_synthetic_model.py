"""The model of synthetic rows by itself: released counts in, rows out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from privclust.clustering.ask_tables import overview_from
from privclust.clustering.binned_columns import (
    Axis,
    HistogramCounts,
    axes_of,
    divided_cells,
    histograms_from,
)
from privclust.clustering.cell_tables import (
    draw_to_independence,
    noise_part,
    rake,
    shrunk,
)
from privclust.clustering.margins import margins_from
from privclust.clustering.result import Cells
from privclust.clustering.synthetic import SyntheticModel
from privclust.clustering.tables import Tables
from privclust.data.points.door import region_of
from privclust.data.public import Noisy
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema

RNG = np.random.default_rng(0)


def cells_at(places, counts, within=0.01):
    """Return cells without noise."""
    n = len(counts)
    return Cells(
        cells=np.asarray(places, float),
        counts=np.asarray(counts, float),
        counts_error=0.0,
        variances=np.zeros(n),
        column_shares=np.ones(np.shape(places)[1]),
        groups=np.zeros(n, np.intp),
        group_variances=np.zeros(1),
        raw_counts=np.asarray(counts, float),
        raw_counts_error=0.0,
        raw_cells=np.arange(n),
        n_rows=float(np.sum(counts)),
        n_rows_error=1.0,
        within=within,
        within_error=0.0,
    )


def lines_of(schema, histograms, error=1e-6):
    """Return released lines of first histograms."""
    parts = []
    for column, (axis, counts) in enumerate(zip(axes_of(schema), histograms, strict=True)):
        edges = axis.edges()
        assert len(counts) == len(edges) - 1
        ones = np.ones(len(counts))
        parts.append([ones * column, 0 * ones, edges[:-1], edges[1:], counts, ones * error])
    columns, levels, *rest = np.concatenate(parts, axis=1)
    return HistogramCounts(columns.astype(int), levels.astype(int), *rest)


def tables_of(schema, histograms, pairs=(), tables=(), error=1e-6, n_cells=1):
    """Return what a release holds, with a bin for every value."""
    lines = lines_of(schema, histograms, error)
    sizes = [len(counts) for counts in histograms]
    return Tables(
        lines,
        np.repeat(np.arange(len(sizes)), sizes),
        lines.low,
        np.concatenate([np.arange(size) for size in sizes]),
        np.full(n_cells, -1),
        np.empty((0, 0)),
        np.zeros(1),
        np.array(pairs, int).reshape(-1, 2),
        np.concatenate([np.ravel(table) for table in tables]) if len(tables) else np.empty(0),
        np.full(len(pairs), error),
    )


LETTERS = Schema({name: Categories(list("abc")) for name in ("one", "two", "three")})
# A chain: two depends on one, and three on two.
FIRST = np.array([0.5, 0.3, 0.2])
GIVEN = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
LAW = FIRST[:, None, None] * GIVEN[:, :, None] * GIVEN[None]
N = 60_000
SCALES = np.full(9, np.sqrt(2))


def chain(error=1e-6):
    margins = [N * LAW.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]
    pairs = {(0, 1): N * LAW.sum(axis=2), (1, 2): N * LAW.sum(axis=0)}
    tables = tables_of(LETTERS, margins, list(pairs), list(pairs.values()), error)
    cells = cells_at(np.concatenate(margins)[None] / N / SCALES, [N])
    return SyntheticModel(LETTERS, cells, SCALES, tables)


def law_of(drawn, names, sizes):
    flat = np.ravel_multi_index(tuple(drawn[name] for name in names), sizes)
    return np.bincount(flat, minlength=int(np.prod(sizes))).reshape(sizes) / len(flat)


def test_a_known_joint_law_comes_back_as_noise_goes_to_zero():
    drawn = chain().drawn(200_000, np.random.default_rng(0))
    found = law_of(drawn, LETTERS.names, (3, 3, 3))
    assert np.abs(found - LAW).sum() / 2 < 0.01


def test_margins_and_tables_are_matched():
    model = chain()
    for edge in model.edges:
        np.testing.assert_allclose(edge.table.sum(axis=1), model.margins[edge.pair[0]], rtol=1e-6)
        axis = ({0, 1, 2} - {*edge.pair}).pop()
        np.testing.assert_allclose(edge.table, N * LAW.sum(axis=axis), atol=0.02 * N / 9)
        assert not edge.found.hidden


# A ring: each of three columns agrees with each other in its own way.
RING = np.array([[[9, 1, 3], [2, 8, 1], [1, 1, 4]], [[1, 2, 9], [7, 1, 1], [2, 6, 2]]])
RING = np.concatenate([RING, RING[:1, ::-1]]) / RING.sum() * 0.7


def ring(n_pairs):
    """Return a model that knows one cell, and the tables of some pairs."""
    law = RING / RING.sum()
    margins = [N * law.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]
    pairs = {(0, 1): N * law.sum(axis=2), (1, 2): N * law.sum(axis=0), (0, 2): N * law.sum(axis=1)}
    chosen = dict([*pairs.items()][:n_pairs])
    tables = tables_of(LETTERS, margins, list(chosen), list(chosen.values()))
    cells = cells_at(np.concatenate(margins)[None] / N / SCALES, [N])
    return SyntheticModel(LETTERS, cells, SCALES, tables), law


def test_chords_are_matched_beside_the_trunk():
    """No tree holds the three tables of a ring; without its chord the third is far off."""
    off = {}
    for n_pairs in (2, 3):
        model, law = ring(n_pairs)
        assert (len(model.trunk), len(model.chords)) == (2, n_pairs - 2)
        found = law_of(model.drawn(60_000, np.random.default_rng(0)), LETTERS.names, (3, 3, 3))
        gaps = [np.abs((found - law).sum(axis=axis)).sum() / 2 for axis in range(3)]
        off[n_pairs] = max(gaps)
    assert off[3] < 0.01 < 0.03 < off[2]


@pytest.mark.parametrize("n_rows", [1, 7, 100_001])
def test_as_many_rows_as_wanted_are_picked(n_rows):
    model, law = ring(3)
    drawn = model.drawn(n_rows, np.random.default_rng(0))
    assert {len(values) for values in drawn.values()} == {n_rows}
    few = np.mean([model.drawn(1, np.random.default_rng(seed))["one"][0] for seed in range(300)])
    assert few == pytest.approx(law.sum(axis=(1, 2)) @ [0, 1, 2], abs=0.2)


def test_a_draw_has_less_noise_than_rows_drawn_one_by_one():
    """Rows are taken at equal steps, so that every value of the first column is as it should be."""
    model, shares = chain(), []
    for seed in range(30):
        drawn = model.drawn(3000, np.random.default_rng(seed))
        shares.append(law_of(drawn, ("one",), (3,)))
    by_coins = np.sqrt(np.mean(shares, axis=0) * (1 - np.mean(shares, axis=0)) / 3000)
    assert (np.std(shares, axis=0) < 0.4 * by_coins).all()


def test_cells_say_what_goes_together_where_no_table_was_asked_for():
    schema = Schema({"x": Box(0, 10, form="integer"), "y": Categories(list("ab"))})
    x = np.array([3000.0] * 5 + [0] + [3000] * 5)
    cells = cells_at([[0.2, 1 / SCALES[0], 0], [0.8, 0, 1 / SCALES[0]]], [15_000, 15_000])
    scales = np.array([10, SCALES[0], SCALES[0]])
    model = SyntheticModel(schema, cells, scales, tables_of(schema, [x, [15_000, 15_000]]))
    drawn = model.drawn(20_000, np.random.default_rng(0))
    assert np.mean((drawn["x"] < 5) == (drawn["y"] == 0)) > 0.9
    found = np.bincount(drawn["x"].astype(int), minlength=11) / 20_000
    np.testing.assert_allclose(found, x / x.sum(), atol=0.01)


def test_cells_that_noise_hides_leave_columns_independent():
    schema = Schema({"x": Box(0, 10, form="integer"), "y": Categories(list("ab"))})
    cells = cells_at([[0.2, 1, 0], [0.8, 0, 1]], [15_000, 15_000])
    tables = tables_of(schema, [np.full(11, 3000.0), [16_500, 16_500]])
    model = SyntheticModel(schema, cells, np.array([10, 1, 1]), tables, seen=False)
    drawn = model.drawn(40_000, np.random.default_rng(0))
    assert abs(np.mean((drawn["x"] < 5.5) == (drawn["y"] == 0)) - 0.5) < 0.02


def test_no_live_cell_is_one_cell_with_all_rows():
    tables = tables_of(LETTERS, [[10.0, 20, 30]] * 3)
    model = SyntheticModel(LETTERS, cells_at(np.zeros((2, 9)), [0, 0]), SCALES, tables)
    assert len(model.weights) == 1
    assert law_of(model.drawn(99, RNG), ("one",), (3,)).sum() == pytest.approx(1)


def test_a_missing_value_that_is_left_out_is_drawn_as_often_as_it_occurs():
    schema = Schema({"a": Categories(["u", "v"], missing="omit"), "b": Categories(["w", "x"])})
    tables = tables_of(schema, [[500.0, 300, 200], [600.0, 400]])
    cells = cells_at(np.array([[0.5, 0.3, 0.6, 0.4]]) / SCALES[0], [1000])
    model = SyntheticModel(schema, cells, SCALES[:4], tables)
    drawn = model.drawn(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(law_of(drawn, ["a"], (3,)), [0.5, 0.3, 0.2], atol=0.02)


def test_noise_in_a_table_is_not_believed_and_a_clear_gap_is():
    expected = np.full((20, 20), 50.0)
    noise = np.random.default_rng(1).normal(0, 30, expected.shape)
    nothing, gap = expected + noise, np.zeros(expected.shape)
    gap[:10, :10] = gap[10:, 10:] = 45
    gap[:10, 10:] = gap[10:, :10] = -45
    lost = shrunk(nothing, expected, 33, sums_known=False)
    assert lost.hidden
    np.testing.assert_allclose(lost.table, 1.001 * expected)
    found = shrunk(expected + gap + noise, expected, 30, sums_known=False)
    assert not found.hidden
    off = np.abs(found.table / found.table.sum() - (expected + gap) / 20_000).sum() / 2
    assert off < 0.9 * np.abs(noise).sum() / 2 / 20_000  # better than the table as it came
    assert found.error == pytest.approx(off, rel=0.35)


def test_sums_that_are_known_are_not_taken_for_signal():
    expected = np.full((12, 12), 50.0)
    rows = np.random.default_rng(2).normal(0, 40, (12, 1)) + np.zeros((12, 12))
    assert shrunk(expected + rows, expected, 20, sums_known=True).hidden
    assert not shrunk(expected + rows, expected, 20, sums_known=False).hidden


def by_cells(gaps, weights):
    """Return the table of a column whose chances in each cell are even but for gaps."""
    table = (0.5 + np.column_stack([gaps, -gaps])) * weights[:, None]
    return rake(table, weights, np.full(2, weights.sum() / 2))


def test_cells_without_noise_keep_all_that_they_say():
    weights, gaps = np.full(40, 100.0), RNG.uniform(-0.4, 0.4, 40)
    given = [by_cells(gaps, weights)] * 3
    for found, table in zip(draw_to_independence(given, np.zeros(3)), given, strict=True):
        np.testing.assert_allclose(found, table)


def test_what_noise_makes_of_cells_is_drawn_to_independence_and_what_it_averages_out_is_not():
    """With the same noise in each cell, columns that go together are seen, and others are not."""
    weights, lost, kept = np.full(60, 100.0), [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise, signal = rng.normal(0, 0.1, (4, 60)), rng.normal(0, 0.1, 60)
        for places, pair in ((noise, lost), (signal + noise, kept)):
            parts = np.array(
                [noise_part(x[:, None], np.full((60, 1), 0.1), weights) for x in places]
            )
            given = [by_cells(x, weights) for x in places]
            found = draw_to_independence(given, parts)
            moved = [
                np.abs(x - 50).sum() / np.abs(y - 50).sum()
                for x, y in zip(found, given, strict=True)
            ]
            pair.append(np.mean(moved))
    assert np.mean(lost) < 0.3
    assert np.mean(kept) > 0.9


def test_raking_agrees_with_both_margins():
    rows, columns = np.array([3.0, 7]), np.array([2.0, 5, 3])
    found = rake(RNG.random((2, 3)), rows, columns)
    np.testing.assert_allclose(found.sum(axis=0), columns)
    np.testing.assert_allclose(found.sum(axis=1), rows, rtol=1e-6)


# Histograms


@pytest.mark.parametrize(
    ("fact", "cells", "whole"),
    [
        (Box(0, 1), 64, False),
        (Box(17, 90, form="integer"), 74, True),
        (Box(0, 10**9, form="integer"), 64, True),
        (Box("2020-01-01", "2020-12-31"), 366, True),
        (Categories(list("abc"), missing="category"), 4, True),
        (Bins([0, 1, 5], missing="omit"), 3, True),
    ],
)
def test_the_first_cells_of_a_column(fact, cells, whole):
    axis = Axis.of(fact)
    edges = axis.edges()
    assert (len(edges) - 1, axis.whole) == (cells, whole)
    assert (edges[0], edges[-1]) == (axis.low, axis.high)
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize("high", [3, 100, 513, 10**6, 10**9])
def test_whole_numbers_are_drawn_whole_and_within_their_cell(high):
    axis = Axis.of(Box(-2, high, form="integer"))
    edges = axis.edges()
    cells = np.tile(np.arange(len(edges) - 1), 5)
    low, up = edges[cells], edges[cells + 1]
    drawn = axis.drawn(low, up, np.random.default_rng(0))
    assert (drawn == np.rint(drawn)).all()
    assert ((drawn > low) & (drawn < up)).all()
    assert drawn.min() >= -2
    assert drawn.max() <= high


def test_a_heavy_value_ends_up_in_a_cell_of_its_own():
    axis = Axis.of(Box(0, 99_999, form="integer"))
    values = np.concatenate([np.zeros(9000), RNG.integers(1, 99_999, 1000)])

    def counted(level, ends):
        edges = np.append(ends[:, 0], ends[-1, 1])
        inside = np.histogram(values, edges)[0].astype(float)
        ones = np.ones(len(ends))
        return HistogramCounts(
            0 * ones.astype(int), level * ones.astype(int), *ends.T, inside, 0.1 * ones
        )

    edges = axis.edges()
    counts = counted(0, np.column_stack([edges[:-1], edges[1:]]))
    for level in (1, 2):
        (found,) = histograms_from(counts, [axis], 10_000.0)
        counts = counts + counted(level, divided_cells(found))
    (found,) = histograms_from(counts, [axis], 10_000.0)
    assert (found.edges[0], found.edges[1]) == (-0.5, 0.5)
    assert found.mass[0] == pytest.approx(9000, rel=0.01)
    assert found.mass.sum() == pytest.approx(10_000)


MIXED = Schema(
    {
        "x": Box(0, 20, form="integer"),
        "y": Categories(["a", "b", "c"], missing="omit"),
        "z": Box(-1, 1),
    }
)


def overview_of(error):
    """Return what histograms tell of rows, and their mean and spread in the unit ball."""
    rng, n = np.random.default_rng(3), 4000
    x, y = rng.binomial(20, 0.3, n), rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    z = np.clip(rng.normal(0.2, 0.3, n), -1, 1)
    exact = [np.bincount(x, minlength=21), np.bincount(y, minlength=4)]
    exact.append(np.histogram(z, np.linspace(-1, 1, 65))[0])
    noisy = [counts + rng.normal(0, error, len(counts)) for counts in exact]
    domain = region_of(MIXED, rescale=True)
    lines = lines_of(MIXED, noisy, error)
    door = SimpleNamespace(schema=MIXED, domain=domain)
    points = domain.to_unit_ball(np.column_stack([x, np.eye(4)[y][:, :3], z]))
    return overview_from(door, lines, Noisy(np.array([4010.0]), 20.0)), points


def test_histograms_know_where_all_rows_are_and_how_far_they_spread():
    known, points = overview_of(1.0)
    mean = points.mean(axis=0)
    np.testing.assert_allclose(known.spread.mean, mean, atol=0.01)
    square = ((points - mean) ** 2).sum(axis=1).mean()
    assert known.spread.distance**2 == pytest.approx(square, rel=0.02)
    assert known.spread.n_rows == pytest.approx(4000, abs=20)
    assert known.number.value[0] == 4010  # as it was released


def test_the_error_of_the_spread_is_that_of_the_noise():
    quiet = overview_of(1e-6)[0].spread.distance ** 2
    loud = overview_of(30.0)[0].spread
    assert abs(loud.distance**2 - quiet) < 4 * loud.square_error
    assert loud.square_error == pytest.approx(30 * overview_of(1.0)[0].spread.square_error, rel=0.2)


def test_histograms_that_noise_hides_tell_nothing():
    assert overview_of(1000.0)[0] is None


def test_noise_in_empty_tails_is_cleaned_away():
    schema = Schema({"x": Box(0, 1)})
    exact = np.zeros(64)
    exact[:6] = [4000, 3000, 1500, 800, 400, 300]
    noisy = exact + np.random.default_rng(2).normal(0, 40, 64)
    (found,) = histograms_from(lines_of(schema, [noisy], 40.0), axes_of(schema), 10_000.0)
    assert found.mass[16:].sum() < 100
    assert np.abs(found.mass - exact).sum() < np.abs(np.maximum(noisy, 0) - exact).sum() / 2


def counted_with(noise, exact, error):
    """Return a column of sixty-four cells, the second of which is divided, as noise shows it."""
    axis = Axis.of(Box(0, 64))
    parts = axis.subdivide(1.0, 2.0)
    low, high = np.append(np.arange(64.0), parts[:-1]), np.append(np.arange(1, 65.0), parts[1:])
    levels = np.repeat([0, 1], [64, len(parts) - 1])
    errors = np.where(levels == 0, error, 2 * error)
    zeros = np.zeros(len(low), int)
    return axis, HistogramCounts(zeros, levels, low, high, exact + noise * errors, errors)


def divided_column():
    """Return exact counts of such a column: nothing is empty, the second cell is heavy."""
    whole = np.full(64, 20_000.0)
    parts = np.full(64, 3000.0)
    whole[1] = parts.sum()
    return np.append(whole, parts)


def test_noise_moves_sums_of_cells_as_their_covariance_says():
    exact, rng, found = divided_column(), np.random.default_rng(3), []
    sums = np.zeros((4, 127))
    sums[0, :1], sums[1, 1:40], sums[2, 40:70], sums[3, 70:] = 1, 1, 1, 1
    for _ in range(800):
        axis, counts = counted_with(rng.normal(size=128), exact, 100.0)
        (histogram,) = histograms_from(counts, [axis], exact[:64].sum())
        found.append(sums @ histogram.mass)
    told = sums @ histogram.covariance(sums)
    scale = np.sqrt(np.diag(told))
    np.testing.assert_allclose(
        np.cov(np.array(found).T) / np.outer(scale, scale), told / np.outer(scale, scale), atol=0.15
    )
    np.testing.assert_allclose(told, told.T)


def test_margins_are_the_least_squares_of_all_counts():
    """Beside a dense solution of the same normal equations."""
    schema = Schema({"a": Categories(list("uvw")), "b": Categories(list("xy"))})
    exact, rng = np.array([[300.0, 500], [200, 100], [900, 400]]), np.random.default_rng(5)
    margins = [exact.sum(axis=1), exact.sum(axis=0)]
    noisy = [margin + rng.normal(0, 30, len(margin)) for margin in margins]
    table = exact + rng.normal(0, 10, exact.shape)
    lines = lines_of(schema, noisy, 30.0)
    tables = replace(tables_of(schema, noisy, [(0, 1)], [table], 10.0), histograms=lines)
    total = exact.sum()
    counted = histograms_from(lines, axes_of(schema), total)
    for column, margin in enumerate(margins_from(tables, counted, total)):
        of_table, n_others = table.sum(axis=1 - column), exact.shape[1 - column]
        precisions = np.array([1 / 30**2, 1 / (10**2 * n_others)])
        mean = (precisions @ [counted[column].mass, of_table]) / precisions.sum()
        expected = mean + (total - mean.sum()) / len(mean)
        np.testing.assert_allclose(margin.histogram.mass, expected, rtol=1e-6)
        error = (precisions.sum() / (1 - 1 / len(mean))) ** -0.5
        np.testing.assert_allclose(margin.errors, error, rtol=1e-6)
        assert np.abs(margin.histogram.mass - margins[column]).sum() > 0


def test_tables_tell_of_margins_and_the_told_error_is_the_true_one():
    rng, off, told, alone = np.random.default_rng(6), [], [], []
    exact = rng.dirichlet(np.full(12, 2.0)) * 20_000
    schema = Schema({"a": Box(1, 12, form="integer"), "b": Categories(["x", "y"])})
    joint = np.outer(exact, [0.4, 0.6])
    margins = [joint.sum(axis=1), joint.sum(axis=0)]
    for _ in range(60):
        noisy = [margin + rng.normal(0, 60, len(margin)) for margin in margins]
        table = joint + rng.normal(0, 30, joint.shape)
        made = tables_of(schema, noisy, [(0, 1)], [table], 30.0)
        made = replace(made, histograms=lines_of(schema, noisy, 60.0))
        counted = histograms_from(made.histograms, axes_of(schema), exact.sum())
        found = margins_from(made, counted, exact.sum())[0]
        off.append(found.histogram.mass - exact)
        told.append(found.errors)
        alone.append(counted[0].mass - exact)
    assert np.std(off) < 0.75 * np.std(alone)
    assert np.std(off) == pytest.approx(np.mean(told), rel=0.12)


def test_histograms_are_never_negative_and_add_up_to_all_rows():
    schema = Schema({"x": Box(0, 1), "y": Categories(list("abcdefgh"))})
    noisy = [RNG.normal(0, 100, 64), RNG.normal(0, 100, 8)]
    for found in histograms_from(lines_of(schema, noisy, 100.0), axes_of(schema), 500.0):
        assert (found.mass >= 0).all()
        assert found.mass.sum() == pytest.approx(500)


def test_what_is_told_of_a_pair_is_what_the_model_believes():
    """Tables of a chain with noise: the told error is about the true one."""
    exact, errors = chain(), []
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0, 60, 18)
        tables = exact.tables
        noisy = Tables(
            **{
                name: getattr(tables, name)
                for name in tables.__dataclass_fields__
                if not name.startswith("pair_counts")
            },
            pair_counts=tables.pair_counts + noise,
            pair_counts_error=np.full(2, 60.0),
        )
        model = SyntheticModel(LETTERS, exact._cells, SCALES, noisy)
        off = [
            np.abs(found.table - true.table).sum() / 2 / N
            for found, true in zip(model.edges, exact.edges, strict=True)
        ]
        errors.append((np.mean(off), model.pair_error))
    true, told = np.mean(errors, axis=0)
    assert told == pytest.approx(true, rel=0.6)


@pytest.mark.parametrize(("noise", "part"), [(10.0, 0.5), (0.3, 0.09), (0.0, 0.0)])
def test_a_centre_goes_halfway_to_its_rows_or_as_far_as_noise_explains(noise, part):
    """The gap is one here, in the first coordinate: rows lie around the mean of the chain."""
    model = chain()
    mean = np.concatenate([N * LAW.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]) / N
    center = (mean / SCALES)[None] + np.eye(1, 9)
    errors = noise * np.eye(1, 9)
    moved = model.step(center, errors) - center
    assert moved[0, 0] == pytest.approx(-part, rel=0.05)
    assert np.abs(moved[0, 1:]).max() < 0.01


def test_every_pair_of_a_forest_is_drawn_once():
    schema = Schema({str(j): Categories(["a", "b"]) for j in range(6)})
    pairs = [(0, 3), (3, 4), (1, 2)]
    tables = [np.array([[400.0, 100], [100, 400]])] * 3
    model = SyntheticModel(
        schema,
        cells_at(np.full((1, 12), 0.5 / SCALES[0]), [1000]),
        np.full(12, SCALES[0]),
        tables_of(schema, [[500.0, 500]] * 6, pairs, tables),
    )
    drawn = model.drawn(20_000, np.random.default_rng(0))
    for first, second in combinations(range(6), 2):
        same = np.mean(drawn[str(first)] == drawn[str(second)])
        wanted = {(0, 3): 0.8, (3, 4): 0.8, (1, 2): 0.8, (0, 4): 0.68}.get((first, second), 0.5)
        assert same == pytest.approx(wanted, abs=0.02)
