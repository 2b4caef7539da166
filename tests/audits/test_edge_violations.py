"""Neighbours that once broke a promise, where the caller's object becomes integers.

For each pair the exact integers that mechanisms are given are compared with the sensitivity that
the mechanisms were made for, which is decisive; then the project's own auditor looks at them.
"""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from privclust import (
    Bins,
    Box,
    Categories,
    PrivateCoclustering,
    PrivateKMeans,
    Schema,
)
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow
from privclust.unit.rows import Person
from support.neighbours import check, check_and_audit
from support.transcripts import recorded_draws, replayed_draws
from support.variants import dilca, medoids

# Decimals: one row with more digits moved all others across the edge of a bin.

PRICES = [Decimal("0.05")] * 40
MORE = [*PRICES, Decimal("50.000001")]
SHOP = Schema({"price": Bins([0, 0.05, 100]), "sex": Categories(["f", "m"])})


def shop(prices, make):
    return make({"price": prices, "sex": (["f", "m"] * len(prices))[: len(prices)]})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_decimal_with_more_digits_moves_no_other_row(make):
    pair = (shop(PRICES, make), shop(MORE, make))
    model = dilca(epsilon=1.0, schema=SHOP, method="baseline")
    check_and_audit(model, pair)


# Duplicates of a sparse matrix: their sum wrapped around.

ONES = sparse.coo_array(np.ones((5, 4), np.int64))


def with_parts(*parts):
    data, rows, columns = ONES.data, *ONES.coords
    more = np.ones(len(parts), rows.dtype)
    places = (np.append(rows, more), np.append(columns, 2 * more))
    return sparse.coo_array((np.append(data, parts), places), shape=(5, 4))


@pytest.mark.parametrize("parts", [(2**62, 2**62), (2**63 - 1,), (2**62,) * 4])
def test_duplicates_of_any_size_change_one_entry_by_its_cap(parts):
    pair = (ONES, with_parts(*parts))
    model = PrivateTauCoclustering(2, 2, epsilon=1.0, n_rounds=1, unit=MatrixEntry(1))
    check_and_audit(model, pair)


def test_one_more_count_is_one_more_count_at_any_size():
    model = PrivateTauCoclustering(2, 2, epsilon=1.0, n_rounds=1, unit=MatrixCount())
    for size in (2**31 - 3, 2**31 - 2, 2**31 - 1, 2**62):
        check(model, (with_parts(size), with_parts(size, 1)))
    check_and_audit(model, (with_parts(2**31 - 2), with_parts(2**31 - 2, 1)))


def test_a_row_of_duplicates_is_one_row():
    model = PrivateCoclustering(2, 2, epsilon=1.0, delta=1e-6, unit=MatrixRow())
    base = sparse.csr_array(np.ones((4, 4), np.int64))
    data, indices = np.append(base.data, [2**62] * 3), np.append(base.indices, [2, 2, 2])
    more = sparse.csr_array((data, indices, np.append(base.indptr, len(data))), shape=(5, 4))
    check_and_audit(model, (base, more))


# A row of stored zeros is a row of zeros.


def test_a_row_of_stored_zeros_is_a_row_like_any_other():
    base = sparse.csr_array(np.ones((4, 6), int))
    zero = sparse.csr_array((np.array([0]), np.array([2]), np.array([0, 1])), shape=(1, 6))
    pair = (base, sparse.csr_array(sparse.vstack([base, zero], format="csr")))
    model = PrivateCoclustering(2, 2, epsilon=1.0, delta=1e-6, unit=MatrixRow())
    check_and_audit(model, pair)


# The matrix of zeros is in the domain.


def test_the_matrix_of_zeros_is_answered_like_its_neighbours():
    nothing = {name: np.array([], int) for name in ("row", "column", "count")}
    pair = (pd.DataFrame(nothing), pd.DataFrame({"row": [0], "column": [0], "count": [1]}))
    model = PrivateTauCoclustering(2, 2, epsilon=1.0, n_rounds=1, shape=(5, 4))
    check_and_audit(model, pair)


# Whether there is a source is a private fact.

TOWNS = [[x / 4, y / 4] for x in range(5) for y in range(5)]


def test_no_source_cannot_be_told_from_one():
    def released(source):
        model = medoids(2, epsilon=1.0, method="nna", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(TOWNS, source=source).release().digest

    with recorded_draws() as draws:
        alone = released(None)
    for source in ([], [[0.5, 0.5]], [[0.1, 0.2]] * 50):
        with replayed_draws([draw.answer for draw in draws]) as asked:
            assert released(source) == alone
        assert len(asked) == len(draws)


# Values that one rule or another covers never end in an error or a warning.

RULED = Schema({"a": Box(0, 1, missing=0.5)})


@pytest.mark.parametrize("odd", ["SECRET", np.inf, 2**70, None, b"x"])
def test_no_value_under_a_rule_ends_a_fit(odd):
    model = PrivateKMeans(1, epsilon=1.0, schema=RULED, method="lloyd")
    check(model, ([[0.1], [0.3]], [[0.1], [0.3], [odd]]))


def test_an_odd_value_is_told_from_others_only_through_noise():
    model = PrivateKMeans(1, epsilon=1.0, schema=RULED, method="lloyd")
    check_and_audit(model, ([[0.1], [0.3]], [[0.1], [0.3], ["SECRET"]]))


# People: a shuffle that depends on everybody, and rows without an id.

TWO_EACH = pd.DataFrame({"who": np.repeat(np.arange(40), 2), "a": np.tile([0.0, 1.0], 40)})


def test_a_shuffle_of_all_rows_does_not_decide_which_rows_of_a_person_count():
    model = PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), method="lloyd", unit=Person("who", 1))
    model.set_params(schema=Schema({"a": Box(0, 1)}), bounds=None)
    for seed in range(5):
        everybody = TWO_EACH.sample(frac=1, random_state=seed)
        others = TWO_EACH[TWO_EACH.who != 13].sample(frac=1, random_state=seed)
        check(model, (everybody, others))


def test_rows_without_an_id_are_people_of_their_own(tmp_path):
    unit = Person("who", 1, missing="separate")
    model = PrivateKMeans(1, epsilon=1.0, schema=Schema({"a": Box(0, 1)}), unit=unit)
    model.set_params(method="lloyd")
    paths = tmp_path / "all.csv", tmp_path / "one less.csv"
    paths[0].write_text("who,a\n,0\n,1\n,1\nu,1\n")
    paths[1].write_text("who,a\n,1\n,1\nu,1\n")
    check(model, paths)


def test_the_check_finds_a_pair_that_is_too_far_apart():
    model = PrivateKMeans(1, epsilon=1.0, schema=RULED, method="lloyd")
    with pytest.raises(AssertionError):
        check(model, ([[0.1]], [[0.1], [1.0], [1.0]]))
