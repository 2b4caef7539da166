"""What holds of every door: people are bounded, noise comes from the system, units fit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from every_question import BUDGET, CATEGORIES, COUNTS, FRAME, TARGETS, exact_draws

from privclust.data.door import Door, noise_source
from privclust.data.matrix.view import CountMatrix
from privclust.data.numbers.view import NumberRows
from privclust.data.points.door import PointRows
from privclust.data.points.public import Projection
from privclust.data.sites.public import TargetSpace
from privclust.data.sites.view import SourceRows
from privclust.data.table.public import CellGroups, Cut, ValuePoints
from privclust.data.table.view import TableRows
from privclust.exceptions import SchemaError
from privclust.opening.matrices import open_matrix
from privclust.opening.rows import open_numbers, open_points, open_sources, open_table
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SystemBits
from privclust.reading.opening import open_rows
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.unit import Unit
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow

NUMBERS = Schema.from_bounds(-1, 1, names=["x", "y"])
MIXED = Schema({"x": Box(-1, 1), "a": Categories([0, 1, 2])})
SPACE = TargetSpace(TARGETS)
# Three people, with three rows, one and two.
PEOPLE = pd.DataFrame(
    {
        "who": ["ann", "ann", "ann", "bob", "cem", "cem"],
        "x": [0.1, 0.9, 0.8, -0.3, 0.5, -0.9],
        "y": [0.2, -0.9, 0.7, 0.3, 0.6, -0.8],
        "a": [0, 1, 1, 2, 0, 1],
        "b": [1, 0, 0, 2, 1, 0],
        "c": [2, 1, 0, 0, 2, 1],
    }
)


def points(unit: Unit, data: pd.DataFrame = PEOPLE, **options: Any) -> PointRows:
    kept = ["who", "x", "y"] if unit == Person("who", 1) else ["x", "y"]
    return PointRows(open_points(data[kept], schema=NUMBERS, unit=unit), **options)


def table(unit: Unit, data: pd.DataFrame = PEOPLE, **options: Any) -> TableRows:
    kept = ["who", "a", "b", "c"] if unit == Person("who", 1) else ["a", "b", "c"]
    return TableRows(open_table(data[kept], CATEGORIES, unit=unit), **options)


def mixed(unit: Unit, data: pd.DataFrame = PEOPLE, **options: Any) -> PointRows:
    kept = ["who", "x", "a"] if unit == Person("who", 1) else ["x", "a"]
    return PointRows(open_points(data[kept], schema=MIXED, unit=unit), **options)


def sites(unit: Unit, data: pd.DataFrame = PEOPLE, **options: Any) -> SourceRows:
    kept = ["who", "x", "y"] if unit == Person("who", 1) else ["x", "y"]
    return SourceRows(open_sources(data[kept], NUMBERS, unit), **options)


def numbers(unit: Unit, data: pd.DataFrame = PEOPLE, **options: Any) -> NumberRows:
    kept = ["who", "x", "y"] if unit == Person("who", 1) else ["x", "y"]
    return NumberRows(open_numbers(data[kept], unit=unit), **options)


def ask_points(door: PointRows, seed: Any = None) -> Any:
    view = door.private(Meter(BUDGET), seed)
    return view.ask_clusters("q", FRAME, np.zeros((1, 2)), 1.0, offsets=BUDGET.whole).offsets.value


def ask_table(door: TableRows, seed: Any = None) -> Any:
    view = door.private(Meter(BUDGET), seed)
    return view.ask_pair_tables("q", [(0, 1), (1, 2)], BUDGET.whole).cells


def ask_embedded(door: TableRows, seed: Any = None) -> Any:
    values = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, 0.1]])
    view = door.private(Meter(BUDGET), seed).as_points(ValuePoints([values] * 3), 1.0)
    return view.ask_clusters("q", FRAME, np.zeros((1, 2)), 1.0, offsets=BUDGET.whole).offsets.value


def ask_mixed(door: PointRows, seed: Any = None) -> Any:
    view, frame = door.private(Meter(BUDGET), seed), Projection(np.zeros(4))
    return view.ask_clusters("q", frame, np.zeros((1, 4)), 1.0, offsets=BUDGET.whole).offsets.value


def ask_binned(door: PointRows, seed: Any = None) -> Any:
    return door.table(Meter(BUDGET), seed).ask_pair_tables("q", [(0, 1)], BUDGET.whole).cells


CUTS = [Cut(0, np.array([-0.5, 0.0, 0.5]), np.arange(4)), Cut(1, np.array([0.5]), np.arange(2))]


def ask_cut(door: PointRows, seed: Any = None) -> Any:
    groups = [CellGroups(np.eye(4)[:2] / 2, np.array([0, 1]))]
    view = door.cut(Meter(BUDGET), seed, CUTS, [(0, 1), (0, 2)], groups)
    return view.ask_pair_tables("q", [(0, 1), (0, 2)], BUDGET.whole).cells


def ask_sites(door: SourceRows, seed: Any = None) -> Any:
    view = door.private(SPACE, Meter(BUDGET), seed)
    one, other = BUDGET.split([1, 1])
    return view.ask_cells("q", TARGETS, counts=one, sums=other).sums.value


def ask_numbers(door: NumberRows, seed: Any = None) -> Any:
    edges = {column: np.linspace(-1, 1, 21) for column in (0, 1)}
    return door.private(Meter(BUDGET), seed).ask_histograms("q", edges, BUDGET.whole).cells[0]


ROW_DOORS: dict[str, tuple[Callable[..., Door], Callable[..., Any]]] = {
    "points": (points, ask_points),
    "table": (table, ask_table),
    "embedded": (table, ask_embedded),
    "mixed": (mixed, ask_mixed),
    "binned": (mixed, ask_binned),
    "cut": (mixed, ask_cut),
    "sites": (sites, ask_sites),
    "numbers": (numbers, ask_numbers),
}


def exact_answers(ask: Callable[[Any], Any], door: Door) -> list[Any]:
    with exact_draws() as draws:
        ask(door)
    return [exact for _, exact in draws]


@pytest.mark.parametrize("name", ROW_DOORS)
def test_one_row_of_each_person_counts(name: str) -> None:
    opened, ask = ROW_DOORS[name]
    counted = exact_answers(ask, opened(Person("who", 1)))
    rows_of = [list(rows.index) for _, rows in PEOPLE.groupby("who")]
    possible = [
        exact_answers(ask, opened(AddRemoveRow(), PEOPLE.loc[list(chosen)]))
        for chosen in product(*rows_of)
    ]
    whole = exact_answers(ask, opened(AddRemoveRow()))
    assert any(all(map(np.array_equal, counted, cut)) for cut in possible)
    assert not any(map(np.array_equal, counted, whole))


@pytest.mark.parametrize("unit", [MatrixCount(), MatrixEntry(), MatrixRow()], ids=str)
@pytest.mark.parametrize("opened", [points, table, sites, numbers])
def test_units_of_matrices_are_refused_where_rows_are_meant(opened: Any, unit: Unit) -> None:
    with pytest.raises(ValueError, match="does not apply to a table of rows; use") as caught:
        opened(unit)
    assert ". " not in str(caught.value)


# Noise


def matrix(unit: Any) -> CountMatrix:
    return CountMatrix(open_matrix(COUNTS, unit=unit))


def ask_matrix(door: CountMatrix, seed: Any = None) -> Any:
    view = door.private(Meter(BUDGET), seed)
    if isinstance(door.unit, MatrixRow):
        return view.ask_profile_sums("q", np.eye(3)[:2], BUDGET.whole).value
    return view.ask_total("q", BUDGET.whole.take("1/1000")).value


DOORS = [
    *((opened, ask, AddRemoveRow()) for opened, ask in ROW_DOORS.values()),
    *((matrix, ask_matrix, unit) for unit in (MatrixCount(), MatrixEntry(3), MatrixRow())),
]


@pytest.mark.parametrize(("opened", "ask", "unit"), DOORS)
def test_no_two_answers_without_a_seed_are_alike(opened: Any, ask: Any, unit: Unit) -> None:
    """Of eight, each of hundreds of likely values or of many entries."""
    answers = [np.asarray(ask(opened(unit))).tobytes() for _ in range(8)]
    assert len(set(answers)) > 1


@pytest.mark.parametrize(("opened", "ask", "unit"), DOORS)
def test_answers_of_a_seed_repeat(opened: Any, ask: Any, unit: Unit) -> None:
    one, other = (ask(opened(unit), np.random.SeedSequence(7)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("opened", "ask", "unit"), DOORS)
def test_a_view_without_a_seed_draws_from_the_system(opened: Any, ask: Any, unit: Unit) -> None:
    space = (SPACE,) if opened is sites else ()
    view = opened(unit).private(*space, Meter(BUDGET), None)
    assert isinstance(view._noise.bits, SystemBits)
    assert view._noise.private
    seeded = opened(unit).private(*space, Meter(BUDGET), np.random.SeedSequence(0))
    assert not seeded._noise.private


def test_noise_that_is_given_is_taken() -> None:
    given = noise_source(np.random.SeedSequence(0))
    assert points(AddRemoveRow(), noise=given).private(Meter(BUDGET), None)._noise is given


# The number of rows


@pytest.mark.parametrize("unit", [AddRemoveRow(), Person("who", 1)], ids=str)
def test_the_number_of_rows_of_a_table_is_noised_and_charged_where_it_is_private(
    unit: Unit,
) -> None:
    meter = Meter(BUDGET)
    view = table(unit).private(meter, None)
    with exact_draws() as draws:
        answer = view.ask_count("q", BUDGET.whole)
    assert len(draws) == len(meter.charges) == 1
    assert answer.standard_error > 0
    assert not view.n_rows_is_public


def test_the_number_of_rows_is_public_where_they_are_replaced() -> None:
    meter = Meter(BUDGET)
    view = table(ReplaceRow()).private(meter, None)
    assert view.ask_count("q", BUDGET.whole).value.tolist() == [6]
    assert not meter.charges


# Closing


def test_rows_are_closed_when_they_are_left_and_when_they_cannot_be_opened() -> None:
    with open_points(PEOPLE[["x", "y"]], schema=NUMBERS) as opened:
        assert not opened.rows._closed
    assert opened.rows._closed
    seen = []

    def noted(*args: Any, **options: Any) -> Any:
        seen.append(open_rows(*args, **options))
        return seen[0]

    with patch("privclust.opening.rows.open_rows", noted), pytest.raises(SchemaError):
        open_points(PEOPLE[["x", "y"]])
    assert seen[0]._closed
