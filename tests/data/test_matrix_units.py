"""The privacy units of a matrix: names, plain data, words and bad parameters."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from privclust.budget import Budget, Loss
from privclust.privacy.meter import Meter
from privclust.statement import PrivacyStatement
from privclust.unit import matrix_unit_from, row_unit, unit_from
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow, group_loss


@pytest.mark.parametrize("unit", [MatrixCount(), MatrixEntry(), MatrixEntry(2.5, 0.5), MatrixRow()])
def test_units_come_back_from_plain_data(unit):
    assert unit_from(unit.to_dict()) == unit
    assert matrix_unit_from(unit) == unit


@pytest.mark.parametrize(
    ("name", "unit"), [("count", MatrixCount()), ("entry", MatrixEntry(1)), ("row", MatrixRow())]
)
def test_short_names_stand_for_units(name, unit):
    assert matrix_unit_from(name) == unit


@pytest.mark.parametrize("name", ["count", "entry"])
def test_short_names_stand_for_the_same_units_everywhere(name):
    assert unit_from(name) == unit_from(f"matrix-{name}") == matrix_unit_from(f"matrix-{name}")


def test_a_row_alone_could_be_one_of_a_table_and_is_refused_where_no_matrix_is_meant():
    with pytest.raises(ValueError, match="Unknown privacy unit"):
        unit_from("row")


@pytest.mark.parametrize("unit", [MatrixCount(), "count", "matrix-entry", MatrixRow()])
def test_a_matrix_unit_is_refused_where_rows_are_meant(unit):
    with pytest.raises(ValueError, match="does not apply to a table of rows; use"):
        row_unit(unit)


# What a larger change costs


def epsilon_by_hand(budget, size):
    """The smallest ε of size² ρ over a fine grid of orders: a bound from above, to five digits."""
    rho, delta = float(budget.amount) * size**2, float(budget.delta)
    orders = 1 + np.exp(np.linspace(-12, 12, 200_001))
    penalty = (-np.log(delta) - np.log(orders - 1)) / (orders - 1)
    penalty += orders * np.log1p(-1 / orders) / (orders - 1)
    return float((orders * rho + penalty).min())


def test_a_row_of_twenty_counts_has_the_loss_that_holds_and_not_twenty_times_epsilon():
    budget = Budget(1, 1e-6)
    loss = group_loss(Loss(None, budget.amount), 20).epsilon(budget.delta)
    assert float(loss) == pytest.approx(epsilon_by_hand(budget, 20), rel=1e-5)
    assert loss > 31


def test_pure_losses_add_up_in_a_group():
    assert group_loss(Loss.of_pure(Fraction(1, 3)), 6).epsilon() == 2


def test_one_step_is_no_group():
    for loss in (Loss(None, Fraction(1, 7)), Loss.of_pure(Fraction(2))):
        assert group_loss(loss, 1) == loss


def test_the_words_say_the_loss_of_a_group_and_never_less():
    pure = MatrixCount().describe(Budget("1.2345"))
    assert "a row of 10 counts at ε = 12.4 and a row of 100 counts at ε = 124." in pure
    budget = Budget(1, 1e-6)
    words = MatrixEntry(3).describe(budget)
    said = [float(part) for part in re.findall(r"at ε = ([0-9.]+[0-9])", words)]
    true = [epsilon_by_hand(budget, size) for size in (10, 100)]
    assert all(1 <= one / other < 1.01 for one, other in zip(said, true, strict=True))
    assert "at the same δ" in words


def test_the_statement_of_a_release_says_it_for_its_own_budget():
    budget = Budget(1, 1e-6)
    statement = PrivacyStatement.from_meter(Meter(budget), unit=MatrixCount(), private=True)
    assert statement.protects == MatrixCount().describe(budget)


@pytest.mark.parametrize("parameters", [(0,), (-1,), (float("inf"),), ("a",), (1, 0.3), (True,)])
def test_a_cap_that_means_nothing_is_refused(parameters):
    with pytest.raises(ValueError, match=r"cap|step"):
        MatrixEntry(*parameters)


def test_the_levels_of_an_entry_are_its_cap_in_steps():
    assert MatrixEntry(2.5, 0.5).levels == 5


def test_every_unit_says_what_it_leaves_open():
    for unit in (MatrixCount(), MatrixEntry()):
        assert "Larger changes are protected less. The shape" in unit.describe()
        assert "s times" not in unit.describe()
    assert "at most 3" in MatrixEntry(3).describe()
    assert "whole row" in MatrixRow().describe()
