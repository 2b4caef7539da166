"""At most so many rows per person, decided by that person's own rows alone."""

import csv
from collections import Counter
from datetime import date
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.columns.kinds import TypedColumn
from privclust.data.people import ContributionBound, PersonRows, limit_rows_per_person
from privclust.exceptions import DataError
from privclust.reading.objects import array_from, plain
from privclust.reading.opening import open_rows
from privclust.unit.rows import AddRemoveRow, Person
from support.blocks import block_numbers

KEY = b"0123456789abcdef"
people = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=30)
bounds = st.integers(1, 4)
cuts = st.lists(st.integers(0, 40), max_size=5)


def kept(rows, max_rows, cuts=(), key=KEY, **rules):
    """Return the rows that count, as a multiset."""
    ids, values = [row[0] for row in rows], np.array([[row[1]] for row in rows])
    bound = ContributionBound(Person("pid", max_rows, **rules), key)
    edges = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    for start, stop in pairwise(edges):
        bound.add(TypedColumn.of(pa.array(ids[start:stop], pa.array(ids).type)), values[start:stop])
    mask = np.concatenate(bound.kept(None))  # one column needs no second look
    return Counter(row for row, keep in zip(rows, mask, strict=True) if keep)


@given(people, bounds, cuts)
def test_each_person_counts_with_as_many_rows_as_allowed(rows, max_rows, cuts):
    found = Counter(person for person, _ in kept(rows, max_rows, cuts).elements())
    for person, times in Counter(person for person, _ in rows).items():
        assert found[person] == min(times, max_rows)


@given(people, bounds, cuts, cuts, st.randoms(use_true_random=False), st.sampled_from("abc"))
def test_neither_order_nor_blocks_nor_others_decide_which_rows_of_a_person_count(
    rows, max_rows, cuts, other_cuts, random, gone
):
    everybody = kept(rows, max_rows, cuts)
    others = [row for row in rows if row[0] != gone]
    random.shuffle(others)
    if others:
        without = kept(others, max_rows, other_cuts)
        assert without == Counter(row for row in everybody.elements() if row[0] != gone)
        assert everybody.total() - without.total() <= max_rows


def test_every_row_of_a_person_has_the_same_chance():
    # Nine cups of tea and one of milk: among equal rows each stands for itself.
    rows = [("a", 1)] * 9 + [("a", 2)]
    milk = sum(kept(rows, 1, key=number.to_bytes(16))[("a", 2)] for number in range(400))
    assert 20 < milk < 65


def test_people_draw_independently_of_each_other():
    rows = [(f"person {number}", value) for number in range(2000) for value in (1, 2)]
    chosen = kept(rows, 1)
    assert 850 < sum(chosen[row] for row in rows if row[1] == 1) < 1150


def test_unseeded_choices_cannot_be_predicted():
    frame = pd.DataFrame({"pid": np.repeat(np.arange(64), 2), "x": np.tile([0.0, 1.0], 64)})
    choices = set()
    for _ in range(3):
        source = open_rows(frame, ["x"], id_column="pid")
        choices.add(tuple(read(limit_rows_per_person(source, Person("pid", 1), x_of))))
    assert len(choices) == 3


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, 7, 8, 7], np.uint8),
        np.array([7.0, 7.0, 8.0, 7.0]),
        np.array(["x", "x", "y", "x"]),
        np.array(["x", "x", "y", "x"], dtype=object),
        np.array([7, 7.0, "8", Decimal(7)], dtype=object),
        np.array([2**80, 2**80, "8", 2**80], dtype=object),
        pa.array(["x", "x", "y", "x"]).dictionary_encode(),
        pa.array(["x", "x", "y", "x"], pa.string_view()),
        pa.array([-(2**63), -(2**63), 2**63 - 1, -(2**63)]),
        pa.array([2**63, 2**63, 1, 2**63], pa.uint64()),
    ],
)
def test_ids_of_any_kind(ids):
    array = array_from(ids) if isinstance(ids, np.ndarray) else ids
    bound = ContributionBound(Person("pid", 2), KEY)
    bound.add(TypedColumn.of(plain(array)), np.zeros((4, 1)))
    (mask,) = bound.kept(None)
    assert mask.sum() == 3
    assert mask[2]


MISSING = (
    "Column 'pid' is the id column but has missing ids; fill them in, remove those rows, or "
    'declare missing="separate" for the unit (--missing-ids separate).'
)
NO_ID = (
    "Column 'pid' cannot serve as the id column; convert all of it to text or to whole numbers, "
    'or declare missing="separate" for the unit.'
)
NO_NUMBER = (
    "Column 'pid' holds ids that are not whole numbers; declare id_type=\"text\" for the unit, "
    'correct them, or declare missing="separate".'
)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (pa.array([7, None]), MISSING),
        (pa.array(["x", None]), MISSING),
        (pa.array(["x", ""]), MISSING),
        (pa.array([7.0, np.nan], from_pandas=True), MISSING),
        (pa.nulls(2), MISSING),
        (pa.array([7.5]), NO_ID),
        (pa.array([np.inf]), NO_ID),
        (pa.array([2.0**53 + 2]), NO_ID),  # it may stand for two people
        (pa.array([True]), NO_ID),
        (pa.array([b"x"]), NO_ID),
        (array_from(np.array(["x", True], object)), NO_ID),
        (array_from(np.array(["x", 7.5], object)), NO_ID),
        (array_from(np.array(["x", 2.0**60], object)), NO_ID),
        (array_from(np.array(["x", date(1977, 1, 1)], object)), NO_ID),
    ],
)
def test_bad_ids_are_refused_without_showing_one(ids, message):
    with pytest.raises(DataError) as caught:
        ContributionBound(Person("pid", 2), KEY).add(TypedColumn.of(ids), np.zeros((len(ids), 1)))
    assert str(caught.value) == message
    assert caught.value.__context__ is None


def test_every_row_without_an_id_may_be_a_person_of_its_own():
    rows = [(None, 1), ("a", 1), (None, 2), ("a", 2), ("", 3), ("NA", 4), ("NA", 5)]
    found = kept(rows, 1, missing="separate")
    assert [found[row] for row in ((None, 1), (None, 2), ("", 3))] == [1, 1, 1]
    assert found.total() == 5


@pytest.mark.parametrize(
    ("foreign", "rules"),
    [
        (2.5, {}),
        (2.0**60, {}),
        (date(2024, 1, 1), {}),
        (b"7", {}),
        ("abc", {"id_type": "number"}),
        (2.5, {"id_type": "number"}),
        (2.0**60, {"id_type": "number"}),
    ],
)
def test_every_row_with_a_foreign_id_may_be_a_person_of_its_own(foreign, rules):
    """Nobody can tell for sure who it is, and each such row beside another is one person more."""
    bound = ContributionBound(Person("pid", 1, missing="separate", **rules), KEY)
    ids = [foreign, "7", foreign, "7", foreign]
    bound.add(TypedColumn.of(array_from(np.array(ids, object))), np.arange(5.0)[:, None])
    (mask,) = bound.kept(lambda masks: iter(()))
    assert mask[[0, 2, 4]].all()
    assert mask.sum() == 4


SPELLINGS = ["7", " 7", "07", "7.0", "+7", "7."]


def holders(ids, folder):
    """Yield the same ids in everything that holds named rows."""
    frame = pd.DataFrame({"pid": ids, "x": np.arange(len(ids), dtype=float)})
    yield frame
    yield frame.astype({"pid": object})
    yield frame.astype({"pid": "category"})
    yield pl.DataFrame({"pid": ids, "x": list(frame.x)})
    yield pa.table({"pid": ids, "x": list(frame.x)})
    frame.to_csv(folder / "x.csv", index=False)
    yield folder / "x.csv"
    frame.to_csv(folder / "q.csv", index=False, quoting=csv.QUOTE_ALL)
    yield folder / "q.csv"
    frame.to_parquet(folder / "x.parquet")
    yield folder / "x.parquet"


def people_in(data, **rules):
    source = open_rows(data, ["x"], id_column="pid")
    return len(read(limit_rows_per_person(source, Person("pid", 1, **rules), x_of)))


@pytest.mark.parametrize(
    ("ids", "rules", "n_people"),
    [
        (SPELLINGS, {}, 6),
        (SPELLINGS, {"id_type": "number"}, 1),
        (["-0", "0", "00", "-7", "-07.0"], {"id_type": "number"}, 2),
        (["7", "-7", "+7"], {"id_type": "number"}, 2),
        (["NA", "NA", "NULL", "null", "nan", "None", "NA"], {}, 5),
        (["70", "7", "700"], {"id_type": "number"}, 3),
        (["9007199254740993", "9007199254740992"], {"id_type": "number"}, 2),
        (["ä", "a\u0308"], {}, 2),
    ],
)
def test_ids_are_compared_as_declared_whatever_holds_them(ids, rules, n_people, tmp_path):
    for data in holders(ids, tmp_path):
        assert people_in(data, **rules) == n_people


def test_whole_numbers_are_the_same_people_in_every_column_type(tmp_path):
    for number, ids in enumerate((pa.array([7, 8]), pa.array([7.0, 8.0]), pa.array(["7", "8"]))):
        pq.write_table(pa.table({"pid": ids, "x": [0.0, 1.0]}), tmp_path / f"{number}.parquet")
    assert people_in(tmp_path) == 2


@pytest.mark.parametrize("ids", [["x", ""], ["x", None]])
def test_an_empty_field_of_a_file_names_nobody(ids, tmp_path):
    for data in holders(ids, tmp_path):
        with pytest.raises(DataError, match="has missing ids; fill them in"):
            people_in(data)
        assert people_in(data, missing="separate") == 2


def test_ids_that_are_no_numbers_are_refused_where_numbers_are_declared(tmp_path):
    for data in holders(["7", "7a"], tmp_path):
        with pytest.raises(DataError) as caught:
            people_in(data, id_type="number")
        assert str(caught.value) == NO_NUMBER


FRAME = pd.DataFrame({"pid": list("abacabad"), "x": np.arange(8.0)})


def read(source):
    return np.concatenate([block_numbers(block) for block in source.blocks()])[:, 0].tolist()


def x_of(block):
    return block_numbers(block, ["x"])


@pytest.mark.parametrize("block_rows", [1, 3, 8, 100])
def test_every_pass_over_the_rows_gives_those_that_count(block_rows):
    source = open_rows(FRAME, ["x"], id_column="pid", block_rows=block_rows)
    rows = limit_rows_per_person(source, Person("pid", 2), x_of, np.random.SeedSequence(0))
    assert (rows.names, rows.n_columns, rows.n_rows) == (("x",), 1, None)
    chosen = read(rows)
    assert chosen == read(rows) == read(rows)
    assert set(chosen) >= {1, 3, 5, 7}
    assert len(chosen) == 6
    whole = open_rows(FRAME, ["x"], id_column="pid")
    assert chosen == read(
        limit_rows_per_person(whole, Person("pid", 2), x_of, np.random.SeedSequence(0))
    )


def test_an_unfinished_pass_changes_nothing():
    source = open_rows(FRAME, ["x"], id_column="pid", block_rows=3)
    rows = limit_rows_per_person(source, Person("pid", 1), x_of)
    first = block_numbers(next(rows.blocks()))[:, 0].tolist()
    assert read(rows)[: len(first)] == first
    assert len(read(rows)) == 4


def test_other_units_let_all_rows_count():
    source = open_rows(FRAME, ["x"], ignore=["pid"])
    assert limit_rows_per_person(source, AddRemoveRow(), x_of) is source


def test_the_source_closes_with_it():
    source = open_rows(FRAME, ["x"], id_column="pid")
    with limit_rows_per_person(source, Person("pid", 1), x_of) as rows:
        read(rows)
    with pytest.raises(DataError, match="closed"):
        next(source.blocks())


def test_the_id_column_must_have_been_opened():
    with pytest.raises(DataError, match="Column 'pid' must be read as the id column; open"):
        PersonRows(open_rows(FRAME, ["x"], ignore=["pid"]), Person("pid", 1), x_of, KEY)


@pytest.mark.parametrize("rows", [2, 7, 30])
def test_data_that_change_between_passes_are_refused(tmp_path, rows):
    path = tmp_path / "data.csv"
    FRAME.to_csv(path, index=False)
    source = open_rows(path, ["x"], id_column="pid", block_rows=4)
    source = limit_rows_per_person(source, Person("pid", 1), x_of)
    read(source)
    pd.concat([FRAME] * 4).iloc[:rows].to_csv(path, index=False)
    with pytest.raises(DataError, match="changed while they were read; start again"):
        read(source)
