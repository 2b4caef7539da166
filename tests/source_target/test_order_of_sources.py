"""Sources are a multiset: whoever is equally near counts by where they lie, not by when they come.

Coarse coordinates tie all the time, and a database hands rows out in any order. So neighbours are
tried here in other orders, too.
"""

import warnings
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget
from privclust.data.sites import kernels
from privclust.data.sites.kernels import NearestRows, nearest_rows
from privclust.data.sites.public import FARTHEST_APART, TargetSpace
from support.audits import quick_audit
from support.transcripts import allowed_change, change, recorded_draws, replayed_draws
from support.variants import medoids

CORNERS = np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
SPACE = TargetSpace(CORNERS)
SITES = SPACE.clipped_grid(np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]]))
SCALE = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
lattices = st.lists(st.tuples(SCALE, SCALE), max_size=14)
shuffles = st.randoms(use_true_random=False)
cuts = st.lists(st.integers(0, 14), max_size=4)


def sums_of(rows, n_kept, cuts=()):
    """Return the sums of the nearest rows, of rows that arrive in blocks."""
    table = np.array(rows, float).reshape(-1, 2)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    found = [nearest_rows(SPACE, SITES, table[a:b], n_kept) for a, b in pairwise(edges)]
    ways = (reduce(add, found), reduce(lambda later, first: first + later, found[::-1]))
    left, right = (way.padded_sums(SITES).tolist() for way in ways)
    assert left == right
    return left


def expected_sums(rows, n_kept):
    """Return the sums by the words of the proof: by distance, then by coordinates, then the site.

    All numbers are Python's.
    """
    grid = SPACE.clipped_grid(np.array(rows, float).reshape(-1, 2)).astype(int).tolist()
    sums = []
    for site in SITES.astype(int).tolist():
        ordered = sorted((sum((a - b) ** 2 for a, b in zip(z, site, strict=True)), z) for z in grid)
        entries = [z for _, z in ordered[:n_kept]]
        entries += [site] * (n_kept - len(entries))
        sums.append([sum(column) for column in zip(*entries, strict=True)])
    return sums


@given(lattices, st.integers(1, 6), cuts, shuffles)
def test_the_nearest_rows_are_those_of_the_proof_in_any_order_and_grouping(rows, n, cuts, random):
    expected = expected_sums(rows, n)
    assert sums_of(rows, n) == expected
    random.shuffle(rows)
    assert sums_of(rows, n, cuts) == expected


@pytest.mark.parametrize("entries", [1, 2**20])
def test_among_many_rows_the_nearest_are_those_of_the_proof(monkeypatch, entries):
    """Also if few sites are looked at together."""
    monkeypatch.setattr(kernels, "_ENTRIES", entries)
    rng = np.random.default_rng(0)
    for n in (1, 50, 170):
        rows = (rng.integers(-9, 10, (300, 2)) / 10).tolist()
        for cuts in ((), (20, 21, 140)):
            assert sums_of(rows, n, cuts) == expected_sums(rows, n)


@given(lattices, st.tuples(SCALE, SCALE), st.tuples(SCALE, SCALE), st.integers(1, 6), shuffles)
def test_a_row_more_or_another_moves_no_sum_by_more_than_the_diameter(rows, one, two, n, random):
    without, more, other = list(rows), [*rows, one], [*rows, two]
    for order in (more, other):
        random.shuffle(order)
    sums = [np.array(sums_of(order, n)) for order in (without, more, other)]
    for left, right in ((0, 1), (1, 2)):
        assert (((sums[left] - sums[right]) ** 2).sum(axis=1) <= FARTHEST_APART**2).all()


def test_equally_near_rows_are_taken_by_their_first_coordinate_and_then_by_the_next():
    """So that a grouping which has met only some of the rows keeps the right ones."""
    ring = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    kept = NearestRows(np.ones((1, 4)), ring[None], 3)
    for start in range(4):
        rolled = NearestRows(np.ones((1, 4)), np.roll(ring, start, axis=0)[None], 3)
        found = rolled + NearestRows(np.empty((1, 0)), np.empty((1, 0, 2)), 3)
        assert sorted(found.rows[0].tolist()) == [[-1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    assert (kept + kept).rows[0].tolist() == [[-1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]


# Rows left and right of the only site between them, equally near, more than are averaged.
BESIDE = np.array([[0.0, 0.0], [0.0, 0.2], [0.0, -0.2], [2.0, 0.0], [-2.0, 0.0]])
RIGHT, LEFT = np.tile([[1.0, 0.0]], (90, 1)), np.tile([[-1.0, 0.0]], (90, 1))
REORDERED = (np.concatenate([RIGHT, LEFT]), np.concatenate([LEFT, RIGHT[:-1]]))


def model(**options):
    options = {"epsilon": 1, "n_nearest": 50, "coreset": None, "bounds": (-2, 2)} | options
    return medoids(2, method="nas", **options)


def fitted(made, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(BESIDE, source=rows)


def transcripts(left, right, **options):
    """Return what mechanisms are asked on the left, and on the right if answers are the same."""
    with recorded_draws() as draws:
        fitted(model(random_state=0, **options), left)
    with replayed_draws([draw.answer for draw in draws]) as twins:
        fitted(model(random_state=0, **options), right)
    return draws, twins


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("unit", ["add-remove-row", "replace-row"])
def test_neighbours_in_another_order_are_within_the_sensitivity(unit, delta):
    left, right = REORDERED
    if unit == "replace-row":
        right = np.concatenate([right, [[0.0, 0.3]]])
    draws, twins = transcripts(left, right, unit=unit, delta=delta)
    for draw, twin in zip(draws, twins, strict=True):
        assert change(draw.mechanism, draw.exact, twin.exact) <= allowed_change(draw.mechanism)
    assert any((draw.exact != twin.exact).any() for draw, twin in zip(draws, twins, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_source_is_the_same_source(seed):
    rows = REORDERED[0]
    shuffled = np.random.default_rng(seed).permutation(rows)
    for draw, twin in zip(*transcripts(rows, shuffled), strict=True):
        np.testing.assert_array_equal(draw.exact, twin.exact)


def test_the_auditor_does_not_tell_neighbours_apart_by_their_order():
    def released(rows, rng):
        found = fitted(model(random_state=int(rng.integers(2**31))), rows)
        return found.released_source_.positions

    pair = NeighbourPair("one row less, in another order", *REORDERED)
    assert quick_audit(released, pair, Budget(1), 120).verdict == "not refuted"
