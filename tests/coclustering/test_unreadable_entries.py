"""The rule for entries of a matrix that are no counts, and the order of repeated places."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from scipy import sparse
from scipy.io import mmwrite

from privclust import MatrixCount, MatrixEntry, MatrixRow, PrivateCoclustering
from privclust.data.columns.counts import as_counts
from privclust.exceptions import DataError
from privclust.opening.matrices import open_matrix
from privclust.unit import unit_from

ZERO = MatrixCount(unreadable="zero")
TENTHS = MatrixEntry(3, 0.1, unreadable="zero")
NO_COUNTS = (-1.0, -0.5, np.nan, np.inf, -np.inf)
# Their sum depends on the order in which they are added.
STEEP = (0.1, 0.2, 0.3, 0.35)


class Odd:
    """An object that is no number and says so in its own way."""

    def __float__(self) -> float:
        raise RuntimeError("a value")


NO_NUMBERS = (None, pd.NA, "abc", "", b"x", 1j, Odd(), object(), Decimal("NaN"), pd.NaT)


def counts_of(data: Any, unit: Any, **declared: Any) -> Any:
    with open_matrix(data, unit=unit, **declared) as opened:
        blocks = [block.counts for block in opened.source.blocks()]
    return sparse.vstack(blocks).toarray().tolist()


@pytest.mark.parametrize("unit", [MatrixCount, MatrixEntry, MatrixRow])
def test_the_rule_is_a_part_of_every_unit_and_left_out_where_it_is_the_usual_one(unit):
    assert "unreadable" not in unit().to_dict()
    total = unit(unreadable="zero")
    assert total.to_dict()["unreadable"] == "zero"
    assert unit_from(total.to_dict()) == total != unit()
    if unit is not MatrixRow:
        assert "counts as 0" in total.describe()
    with pytest.raises(ValueError, match="unreadable must be"):
        unit(unreadable="drop")


@pytest.mark.parametrize("form", ["dense", "coo", "csr", "csc", "bsr", "mtx", "npz", "csv", "list"])
@pytest.mark.parametrize("odd", [*NO_COUNTS, 0.5], ids=str)
def test_an_entry_that_is_no_count_is_refused_or_counts_as_0_by_itself(form, odd, tmp_path):
    dense = np.array([[2.0, odd, 0.0], [1.0, 0.0, 3.0]])
    data, declared = _in(form, dense, tmp_path)
    with pytest.raises(DataError):
        counts_of(data, MatrixCount(), **declared)
    assert counts_of(data, ZERO, **declared) == [[2, 0, 0], [1, 0, 3]]


def _in(form: str, dense: Any, folder: Any) -> tuple[Any, dict[str, Any]]:
    if form == "dense":
        return dense, {}
    if form == "list":
        return dense.tolist(), {}
    if form in ("npz", "mtx"):
        path = folder / f"a.{form}"
        stored = sparse.csr_array(dense)
        sparse.save_npz(path, stored) if form == "npz" else mmwrite(path, stored)
        return path, {}
    if form == "csv":
        rows, columns = np.nonzero(dense)
        triples = {"row": rows, "column": columns, "count": dense[rows, columns]}
        pd.DataFrame(triples).to_csv(folder / "a.csv", index=False)
        return folder / "a.csv", {"shape": dense.shape}
    return sparse.coo_array(dense).asformat(form), {}


def test_a_fraction_is_read_where_the_step_is_one():
    assert counts_of(np.array([[0.5, -0.5, np.nan]]), TENTHS) == [[5, 0, 0]]


@pytest.mark.parametrize("kind", [np.array, list, np.ma.array], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("odd", NO_NUMBERS, ids=lambda odd: repr(odd)[:12])
def test_an_object_that_is_no_number_counts_as_0_by_itself(kind, odd):
    rows = [[2, odd, "4"], [1.0, True, 2**70]]
    data = rows if kind is list else kind(rows, dtype=object)
    assert counts_of(data, ZERO) == [[2, 0, 4], [1, 1, 2**31 - 1]]
    with pytest.raises(DataError):
        counts_of(data, MatrixCount())


def test_a_list_reads_a_value_alike_beside_any_other():
    """The type that NumPy gives a list would follow from all of its values."""
    large = np.longdouble("1e400")
    beside = [counts_of([[large, other, 3]], ZERO) for other in (1, 1.5, "abc", None, 2**70)]
    assert {(row[0][0], row[0][2]) for row in beside} == {(0, 3)}


def test_what_lies_under_a_mask_is_missing():
    masked = np.ma.array([[1, 7], [2, 3]], mask=[[0, 1], [0, 0]])
    for data in (masked, masked.astype(object)):
        assert counts_of(data, ZERO) == [[1, 0], [2, 3]]
        with pytest.raises(DataError, match="missing"):
            counts_of(data, MatrixCount())


@pytest.mark.parametrize("written", ["abc", "", "-3", "1.5", "inf"])
def test_a_count_of_a_triple_that_is_none_counts_as_0(written, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"row,column,count\n0,0,2\n0,1,{written}\n1,1,3\n")
    assert counts_of(path, ZERO, shape=(2, 2)) == [[2, 0], [0, 3]]
    with pytest.raises(DataError):
        counts_of(path, MatrixCount(), shape=(2, 2))


def test_a_count_of_a_sorted_triple_that_is_none_counts_as_0(tmp_path):
    path = tmp_path / "a.parquet"
    triples = {"row": [0, 0, 1], "column": [0, 1, 1], "count": [2, -1, None]}
    pq.write_table(pa.table(triples), path, row_group_size=1)
    assert counts_of(path, ZERO, shape=(2, 2)) == [[2, 0], [0, 0]]


def test_each_stored_part_of_an_entry_follows_the_rule_by_itself():
    parts = sparse.coo_array(([3, -1, 2], ([0, 0, 0], [0, 0, 1])), shape=(1, 2))
    assert counts_of(parts, ZERO) == [[3, 2]]


def test_one_more_in_a_part_is_one_more_or_nothing():
    values = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.0**40]
    for value in values:
        few, more = (counts_of(np.array([[v]]), ZERO)[0][0] for v in (value, value + 1))
        assert abs(more - few) <= 1


def test_the_order_of_repeated_places_does_not_matter():
    """Of the sums of these parts, some round to one step more than others."""
    sums = {sum(order) for order in itertools.permutations(STEEP)}
    assert len(sums) > 1
    # A step at whose middle the sums lie, so that the largest and the smallest round apart.
    unit = MatrixEntry(3 * 2 * max(sums) / 3, 2 * max(sums) / 3)
    counts = set()
    for order in itertools.permutations(STEEP):
        places = (np.zeros(4, int), np.zeros(4, int))
        stored = sparse.coo_array((np.array(order), places), shape=(1, 1))
        counts.add(int(as_counts(stored, unit).sum()))
    assert len(counts) == 1


def test_whole_numbers_count_up_to_a_fractional_cap():
    assert counts_of(np.array([[5, 1, 0]]), MatrixEntry(2.5, 0.5)) == [[5, 2, 0]]


@pytest.mark.parametrize(
    ("cap", "step", "levels"),
    [(0.3, 0.1, 3), (1.1, 0.1, 11), (2.5, 0.5, 5), (1, 1 / 3, 3), (np.float64(0.7), 0.1, 7)],
)
def test_a_cap_is_a_multiple_of_a_step_as_they_are_written(cap, step, levels):
    unit = MatrixEntry(cap, step)
    assert unit.levels == levels
    entries = np.array([[cap, 10.0, float(step)]])
    assert counts_of(entries, unit) == [[levels, levels, 1]]


@pytest.mark.parametrize(("cap", "step"), [(0.35, 0.1), (1, 1e-9), (1, 1e-320), (1, 0.3)])
def test_other_caps_are_refused(cap, step):
    with pytest.raises(ValueError, match="whole multiple"):
        MatrixEntry(cap, step)


def test_a_fit_under_the_rule_fails_on_no_entry():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3, (40, 12)).astype(float)
    counts[3, 4], counts[5, 6], counts[7, 8] = np.nan, -3, 0.5
    model = PrivateCoclustering(2, 2, epsilon=1, unit=ZERO, random_state=0).fit(counts)
    readable = np.where((counts >= 0) & (counts == np.rint(counts)), counts, 0).astype(int)
    other = PrivateCoclustering(2, 2, epsilon=1, unit=ZERO, random_state=0).fit(readable)
    assert model.release() == other.release()
    assert "counts as 0" in model.privacy_.protects


def test_a_row_whose_entries_are_all_missing_keeps_its_place(tmp_path):
    """The shape is public, so no entry may change it."""
    table = pd.DataFrame({"a": [1, None, 3], "b": [4, None, None]})
    for name in ("csv", "parquet"):
        getattr(table, f"to_{name}")(tmp_path / f"x.{name}", index=False)
        assert counts_of(tmp_path / f"x.{name}", ZERO) == [[1, 4], [0, 0], [3, 0]]
    with xlsxwriter.Workbook(str(tmp_path / "x.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, [1, 4])
        sheet.write_row(3, 0, [3])
    for unit in (MatrixCount(), ZERO, TENTHS, MatrixRow()):
        with pytest.raises(DataError, match="save the sheet as CSV"):
            open_matrix(tmp_path / "x.xlsx", unit=unit)
