"""Counts and entropy sums against brute force; the whole-numbered n log n."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.table.kernels import BIT, EntropyScale, count_cells, pair_counts, subset_sums
from privclust.data.table.public import PairLayout

SIZES = (2, 3, 1, 4, 3)


def some_codes(n_rows, sizes=SIZES, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.uint8)


def brute_table(codes, chosen, sizes=SIZES):
    table = np.zeros([sizes[a] for a in chosen], np.int64)
    for row in codes:
        table[tuple(row[list(chosen)])] += 1
    return table


def test_pair_tables_are_those_of_brute_force_in_both_orders():
    codes, layout = some_codes(50), PairLayout.all_pairs(SIZES)
    counts = pair_counts(codes, layout)
    for i, j in layout.pairs:
        np.testing.assert_array_equal(layout.table(counts, (i, j)), brute_table(codes, (i, j)))
        np.testing.assert_array_equal(layout.table(counts, (j, i)), brute_table(codes, (j, i)))


def test_single_counts_are_those_of_brute_force():
    codes = some_codes(50)
    expected = np.concatenate([brute_table(codes, (a,)) for a in range(len(SIZES))])
    np.testing.assert_array_equal(count_cells(codes, SIZES), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_subset_sums_are_those_of_brute_force(size):
    codes, scale = some_codes(60), EntropyScale(60)
    sums = subset_sums(codes, SIZES, size, scale)
    wanted = {*combinations(range(5), size), *combinations(range(5), size + 1)}
    assert set(sums) == wanted
    for chosen, value in sums.items():
        assert value == scale(brute_table(codes, chosen).ravel()).sum()


def test_subset_sums_survive_more_cells_than_can_be_listed():
    sizes = (300, 300, 300, 300)
    codes = some_codes(40, sizes).astype(np.uint16)
    scale = EntropyScale(40)
    sums = subset_sums(codes, sizes, 3, scale)
    for chosen, value in sums.items():
        _, counts = np.unique(codes[:, list(chosen)], axis=0, return_counts=True)
        assert value == scale(counts).sum()


@given(st.integers(1, 400), st.integers(0, 1000))
def test_steps_never_fall_and_never_exceed_the_steepest(made_for, count):
    scale = EntropyScale(made_for)
    steps = np.diff(scale(np.arange(count, count + 3)))
    assert 0 <= steps[0] <= steps[1] <= scale.steepest


def test_steps_of_a_large_scale_never_fall():
    scale = EntropyScale(3_000_000)
    counts = np.unique(np.geomspace(1, 5e6, 4000).astype(np.int64))
    steps = scale(counts + 1) - scale(counts)
    assert (np.diff(steps) >= 0).all()
    assert steps.max() == scale.steepest


@pytest.mark.parametrize("n_rows", [2, 50, 65_536, 65_537, 1_000_000])
def test_the_scale_is_n_log_n_up_to_its_rows(n_rows):
    scale = EntropyScale(n_rows)
    counts = np.unique(np.linspace(1, n_rows, 500).astype(np.int64))
    np.testing.assert_allclose(scale(counts) / BIT, counts * np.log2(counts), atol=3e-5 * n_rows)


@pytest.mark.parametrize("n_rows", [2, 3, 10, 1000])
def test_the_steepest_step_is_n_times_the_binary_entropy_of_one_row(n_rows):
    """The exact sensitivity of the entropy of N rows, one of which is replaced: hb(1/N)."""
    p = 1 / n_rows
    entropy = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    assert EntropyScale(n_rows).steepest / BIT == pytest.approx(n_rows * entropy, abs=1e-6)
