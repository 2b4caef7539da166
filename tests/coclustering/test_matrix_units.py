"""The privacy units of a matrix: names, plain data, words and bad parameters."""

from __future__ import annotations

import pytest

from privclust.unit import MatrixCount, MatrixEntry, MatrixRow, matrix_unit_from, unit_from


@pytest.mark.parametrize("unit", [MatrixCount(), MatrixEntry(), MatrixEntry(2.5, 0.5), MatrixRow()])
def test_units_come_back_from_plain_data(unit):
    assert unit_from(unit.to_dict()) == unit
    assert matrix_unit_from(unit) == unit


@pytest.mark.parametrize(
    ("name", "unit"), [("count", MatrixCount()), ("entry", MatrixEntry(1)), ("row", MatrixRow())]
)
def test_short_names_stand_for_units(name, unit):
    assert matrix_unit_from(name) == unit


def test_short_names_mean_nothing_where_rows_are_points():
    with pytest.raises(ValueError, match="Unknown privacy unit"):
        unit_from("row")


@pytest.mark.parametrize("parameters", [(0,), (-1,), (float("inf"),), ("a",), (1, 0.3), (True,)])
def test_a_cap_that_means_nothing_is_refused(parameters):
    with pytest.raises(ValueError, match=r"cap|step"):
        MatrixEntry(*parameters)


def test_the_levels_of_an_entry_are_its_cap_in_steps():
    assert MatrixEntry(2.5, 0.5).levels == 5


def test_every_unit_says_what_it_leaves_open():
    assert "s times" in MatrixCount().describe()
    assert "s times" in MatrixEntry().describe()
    assert "at most 3" in MatrixEntry(3).describe()
    assert "whole row" in MatrixRow().describe()
