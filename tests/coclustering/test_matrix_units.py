"""The privacy units of a matrix: names, plain data, words and bad parameters."""

from __future__ import annotations

import pytest

from privclust.unit import OneCount, OneEntry, OneRow, matrix_unit_from, unit_from


@pytest.mark.parametrize("unit", [OneCount(), OneEntry(), OneEntry(2.5, 0.5), OneRow()])
def test_units_come_back_from_plain_data(unit):
    assert unit_from(unit.to_dict()) == unit
    assert matrix_unit_from(unit) == unit


@pytest.mark.parametrize(
    ("name", "unit"), [("count", OneCount()), ("entry", OneEntry(1)), ("row", OneRow())]
)
def test_short_names_stand_for_units(name, unit):
    assert matrix_unit_from(name) == unit


def test_short_names_mean_nothing_where_rows_are_points():
    with pytest.raises(ValueError, match="Unknown privacy unit"):
        unit_from("row")


@pytest.mark.parametrize("parameters", [(0,), (-1,), (float("inf"),), ("a",), (1, 0.3), (True,)])
def test_a_cap_that_means_nothing_is_refused(parameters):
    with pytest.raises(ValueError, match=r"cap|step"):
        OneEntry(*parameters)


def test_the_levels_of_an_entry_are_its_cap_in_steps():
    assert OneEntry(2.5, 0.5).levels == 5


def test_every_unit_says_what_it_leaves_open():
    assert "s times" in OneCount().describe()
    assert "s times" in OneEntry().describe()
    assert "at most 3" in OneEntry(3).describe()
    assert "whole row" in OneRow().describe()
