"""At most so many rows per person, decided by that person's own rows alone."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.contribution import BoundedRows, ContributionBound, bounded
from privclust.data.reading import open_rows
from privclust.exceptions import DataError
from privclust.unit import AddRemoveRow, Person

people = st.lists(st.integers(0, 5), max_size=40)
texts = st.lists(st.sampled_from(["a", "b", "ä", "", "person 1"]), max_size=40)
bounds = st.integers(1, 4)
cuts = st.lists(st.integers(0, 40), max_size=5)


def brute_force(ids, max_rows):
    return [ids[:i].count(person) < max_rows for i, person in enumerate(ids)]


def in_blocks(ids, max_rows, cuts=()):
    bound = ContributionBound(max_rows, "pid")
    edges = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    parts = [bound.keep(pa.array(ids[a:b], pa.array(ids).type)) for a, b in pairwise(edges)]
    return np.concatenate(parts).tolist()


@given(people | texts, bounds, cuts)
def test_the_first_rows_of_each_person_are_kept_however_blocks_are_cut(ids, max_rows, cuts):
    assert in_blocks(ids, max_rows, cuts) == brute_force(ids, max_rows)


@given(people, bounds, cuts, cuts, st.integers(0, 5))
def test_removing_a_person_leaves_all_others_as_they_are(ids, max_rows, cuts, other_cuts, gone):
    with_everybody = in_blocks(ids, max_rows, cuts)
    others = [kept for person, kept in zip(ids, with_everybody, strict=True) if person != gone]
    without = in_blocks([person for person in ids if person != gone], max_rows, other_cuts)
    assert without == others
    assert sum(with_everybody) - sum(without) <= max_rows


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, 7, 8, 7], np.uint8),
        np.array([7.0, 7.0, 8.0, 7.0]),
        np.array(["x", "x", "y", "x"]),
        np.array(["x", "x", "y", "x"], dtype=object),
        pa.array(["x", "x", "y", "x"]).dictionary_encode(),
        pa.array(["x", "x", "y", "x"], pa.string_view()),
        pa.array([-(2**63), -(2**63), 2**63 - 1, -(2**63)]),
    ],
)
def test_ids_of_any_kind(ids):
    assert ContributionBound(2).keep(ids).tolist() == [True, True, True, False]


MISSING = "Column 'pid' is the id column but has missing ids; fill them in or remove those rows."
NO_ID = (
    "Column 'pid' cannot serve as the id column; "
    "convert all of it to integers or all of it to text."
)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([pa.array([7, None])], MISSING),
        ([pa.array(["x", None])], MISSING),
        ([np.array([7.0, np.nan])], MISSING),
        ([pa.nulls(2)], MISSING),
        ([np.array([7.5])], NO_ID),
        ([pa.array([True])], NO_ID),
        ([pa.array([2**63], pa.uint64())], NO_ID),
        ([pa.array([7]), pa.array(["7"])], NO_ID),
        ([pa.array(["7"]), pa.array([7])], NO_ID),
    ],
)
def test_bad_ids_are_refused_without_showing_one(blocks, message):
    bound = ContributionBound(2, "pid")
    for block in blocks[:-1]:
        bound.keep(block)
    with pytest.raises(DataError) as caught:
        bound.keep(blocks[-1])
    assert str(caught.value) == message


FRAME = pd.DataFrame({"pid": list("abacabad"), "x": np.arange(8.0)})


def read(source):
    return np.concatenate([block.numbers() for block in source.blocks()])[:, 0].tolist()


@pytest.mark.parametrize("block_rows", [1, 3, 8, 100])
def test_every_pass_over_the_rows_gives_those_that_count(block_rows):
    source = open_rows(FRAME, ["x"], id_column="pid", block_rows=block_rows)
    rows = bounded(source, Person("pid", 2))
    assert (rows.names, rows.n_columns, rows.n_rows) == (("x",), 1, None)
    assert read(rows) == read(rows) == read(rows) == [0, 1, 2, 3, 5, 7]


def test_an_unfinished_pass_decides_nothing():
    source = open_rows(FRAME, ["x"], id_column="pid", block_rows=3)
    rows = bounded(source, Person("pid", 1))
    next(rows.blocks())
    assert read(rows) == [0, 1, 3, 7]


def test_other_units_let_all_rows_count():
    source = open_rows(FRAME, ["x"], ignore=["pid"])
    assert bounded(source, AddRemoveRow()) is source


def test_the_source_closes_with_it():
    source = open_rows(FRAME, ["x"], id_column="pid")
    with bounded(source, Person("pid", 1)) as rows:
        read(rows)
    with pytest.raises(DataError, match="closed"):
        next(source.blocks())


def test_the_id_column_must_have_been_opened():
    with pytest.raises(DataError, match="Column 'pid' must be read as the id column; open"):
        BoundedRows(open_rows(FRAME, ["x"], ignore=["pid"]), Person("pid", 1))


@pytest.mark.parametrize("rows", [2, 7, 30])
def test_data_that_change_between_passes_are_refused(tmp_path, rows):
    path = tmp_path / "data.csv"
    FRAME.to_csv(path, index=False)
    source = bounded(open_rows(path, ["x"], id_column="pid", block_rows=4), Person("pid", 1))
    read(source)
    pd.concat([FRAME] * 4).iloc[:rows].to_csv(path, index=False)
    with pytest.raises(DataError, match="changed while they were read; start again"):
        read(source)
