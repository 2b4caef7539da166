"""Privacy units: how many rows a step between neighbours changes, and what is said about it."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.question import Scores, Term
from privclust.unit import unit_from
from privclust.unit.base import UnitStep
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow

units = st.one_of(
    st.just(AddRemoveRow()),
    st.builds(ReplaceRow, st.none() | st.integers(1, 10**6)),
    st.builds(Person, st.text(min_size=1), st.integers(1, 10**6)),
)


def test_units_know_what_a_step_is():
    assert AddRemoveRow().one_step == UnitStep(1)
    assert ReplaceRow().one_step == UnitStep(1, replaces=True)
    assert Person("id", 5).one_step == UnitStep(5)


@pytest.mark.parametrize(
    ("unit", "vector", "within", "counts", "apart"),
    [
        (AddRemoveRow(), 7, 7, 1, 7),
        (ReplaceRow(), 14, 7, 2, 14),
        (Person("id", 5), 35, 35, 25, 35),
    ],
)
def test_a_step_changes_what_its_unit_makes_of_a_row(unit, vector, within, counts, apart):
    step = unit.one_step
    assert Term.vector(7).over(step).length == vector
    assert Term.vector(7).over(step).square == vector**2
    assert Term.within(7).over(step).l1 == within
    assert Term.within(7).over(step).square == within**2
    assert Term.cells().over(step).square == counts
    assert Scores(-3, 4).over(step) == apart


def test_only_replaced_rows_may_declare_their_number():
    assert ReplaceRow(np.int64(70)).n_rows == 70
    assert ReplaceRow(70) != ReplaceRow()
    assert "The number of rows, 70, is not protected" in ReplaceRow(70).describe()
    assert [unit.n_rows for unit in (AddRemoveRow(), ReplaceRow(), Person("id", 1))] == [None] * 3
    assert unit_from({"name": "replace-row", "n_rows": 70}) == ReplaceRow(70)
    assert ReplaceRow().to_dict() == {"name": "replace-row"}


def test_only_people_have_an_id_column():
    assert [unit.id_column for unit in (AddRemoveRow(), ReplaceRow())] == [None, None]
    assert Person("id", 1).id_column == "id"


@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow(), Person("id", 3)], ids=str)
def test_no_table_of_counts_changes_by_more_than_its_unit_says(unit):
    """All steps between neighbours, in all ways to place the rows in three cells."""
    signs = {"add-remove-row": [1], "replace-row": [1, -1], "person": [1] * 3}[unit.name]
    changes = [
        sum(sign * np.eye(3, dtype=int)[cell] for sign, cell in zip(signs, cells, strict=True))
        for cells in itertools.product(range(3), repeat=len(signs))
    ]
    size = Term.cells().over(unit.one_step)
    assert max(abs(change).sum() for change in changes) == size.l1
    assert max((change**2).sum() for change in changes) == size.square


def test_descriptions_say_what_is_protected():
    assert AddRemoveRow().describe() == (
        "Adding or removing any one row changes the chance of any published result by no more "
        "than the stated privacy loss."
    )
    assert ReplaceRow().describe().startswith("Replacing any one row by another changes")
    assert "number of rows is not protected" in ReplaceRow().describe()
    assert "all rows of any one person (known by the column 'pid'" in Person("pid", 3).describe()
    assert "at most 3 rows count" in Person("pid", 3).describe()
    assert "at most 1 row counts" in Person("pid", 1).describe()


def test_short_names_stand_for_units():
    assert unit_from("add-remove-row") == AddRemoveRow()
    assert unit_from("replace-row") == ReplaceRow()
    assert AddRemoveRow() != ReplaceRow()


@given(units)
def test_units_survive_plain_data_and_pickle(unit):
    assert unit_from(unit) is unit
    assert unit_from(unit.to_dict()) == unit
    assert unit.to_dict()["name"] == unit.name
    assert pickle.loads(pickle.dumps(unit)) == unit
    assert hash(unit_from(unit.to_dict())) == hash(unit)


def test_units_are_frozen_and_plain():
    person = Person("id", np.int64(3))
    assert type(person.max_rows) is int
    with pytest.raises(AttributeError):
        person.max_rows = 4


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: Person("", 1), "id column must be named"),
        (lambda: Person(3, 1), "id column must be named"),
        (lambda: Person("id", 0), "at least 1, got 0"),
        (lambda: Person("id", True), "at least 1, got True"),
        (lambda: Person("id", 1.5), "at least 1, got 1.5"),
        (lambda: ReplaceRow(0), "n_rows must be a whole number of at least 1, got 0"),
        (lambda: ReplaceRow(True), "at least 1, got True"),
        (lambda: ReplaceRow(2.0), r"at least 1, got 2\.0"),
        (lambda: unit_from("row"), "Unknown privacy unit 'row'"),
        (lambda: unit_from(None), "Unknown privacy unit None"),
        (lambda: unit_from([]), "Unknown privacy unit"),
        (lambda: unit_from({}), "Unknown privacy unit"),
        (lambda: unit_from({"name": []}), "Unknown privacy unit"),
        (lambda: unit_from("person"), r"use Person\(id_column, max_rows\)"),
        (lambda: unit_from({"name": "person"}), r"use Person\(id_column, max_rows\)"),
        (lambda: unit_from({"name": "person", "id_column": "who"}), "wrong parameters"),
        (lambda: unit_from({"name": "replace-row", "max_rows": 1}), "wrong parameters"),
    ],
)
def test_a_bad_unit_is_refused_in_one_sentence(make, part):
    with pytest.raises(ValueError, match=part) as caught:
        make()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message
    assert "; " in message
