"""The model behind MST and AIM in the benchmark of synthetic rows: exact, of the most entropy."""

from itertools import combinations

import numpy as np
import pytest

from support.scripts import BENCHMARKS, found_first

SIZES = [3, 4, 2, 5, 3, 2, 4]
LOOP = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5), (5,), (6,), (1,)]
PAIRS = [*combinations(range(7), 2)]

with found_first([BENCHMARKS / "peers"]):
    import rows_peer
    import tables_model


def brute_force(weights, total):
    joint = np.zeros(SIZES)
    for columns, table in weights.items():
        joint = joint + tables_model.spread(table, columns, tuple(range(len(SIZES))))
    joint = np.exp(joint)
    return joint * total / joint.sum()


def projected(joint, columns):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in columns))


def shape(columns):
    return [SIZES[column] for column in columns]


@pytest.mark.parametrize("sets", [LOOP, PAIRS, [(0,), (1, 2)]], ids=["loop", "all pairs", "two"])
def test_inference_is_exact(sets):
    rng = np.random.default_rng(0)
    weights = {columns: rng.normal(size=shape(columns)) for columns in sets}
    tree = tables_model.JunctionTree(SIZES, sets)
    model = tables_model.TablesModel(tree, weights, 100.0)
    joint = brute_force(weights, 100.0)
    for columns, table in (model.tables | model.pairs()).items():
        np.testing.assert_allclose(table, projected(joint, columns), atol=1e-9)
    assert {*PAIRS} <= {*model.pairs()}
    assert tables_model.tree_size(SIZES, sets) == sum(part.size for part in model.beliefs)


def test_a_law_with_a_loop_comes_back_from_its_exact_tables():
    rng = np.random.default_rng(1)
    joint = brute_force({c: rng.normal(size=shape(c)) for c in LOOP}, 1e4)
    known = {c: tables_model.Measured(projected(joint, c), 1.0) for c in LOOP}
    model = tables_model.estimate(SIZES, known, 1e4, last=True)
    for pair in PAIRS:
        apart = np.abs(model.pairs()[pair] - projected(joint, pair)).sum() / 2e4
        assert apart < 0.002


def test_rows_have_the_tables_of_the_model_but_for_rounding():
    rng = np.random.default_rng(2)
    weights = {columns: rng.normal(size=shape(columns)) for columns in LOOP}
    model = tables_model.TablesModel(tables_model.JunctionTree(SIZES, LOOP), weights, 20_000.0)
    made = rows_peer.Table(model.rows(20_000, rng), SIZES, rng)
    for columns, table in model.tables.items():
        assert np.abs(made.exact(columns) - table).sum() < 400
    halves = made.codes[:10_000], made.codes[10_000:]  # in random order
    for column in range(len(SIZES)):
        first, second = (np.bincount(half[:, column], minlength=5) for half in halves)
        assert np.abs(first - second).max() < 500


def test_two_versions_of_a_table_count_by_their_noise():
    one = tables_model.Measured(np.array([4.0]), 1.0)
    one.add(np.array([10.0]), 0.5**0.5)
    assert one.table[0] == pytest.approx(8.0)
    assert one.precision == pytest.approx(3.0)


@pytest.mark.parametrize("method", [rows_peer.mst, rows_peer.aim], ids=["mst", "aim"])
def test_with_little_noise_pairs_come_back(method):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, 4000)
    columns = [(kind + rng.integers(0, 2, 4000)) % size for size in (3, 4, 5)]
    table = rows_peer.Table(np.column_stack(columns), [3, 4, 5], rng)
    made = rows_peer.Table(method(table, 50.0, tables_model.estimate), [3, 4, 5], rng)
    for pair in combinations(range(3), 2):
        limit = 0.02 if method is rows_peer.aim else 0.12  # a tree cannot tell the third pair
        assert np.abs(made.exact(pair) - table.exact(pair)).sum() / 8000 < limit
