"""Exact answers about rows are for their holder; what asks, keeps and publishes has none."""

from __future__ import annotations

import ast
import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import privclust
from privclust.data.door import Door
from privclust.data.matrix.rows import MatrixSource
from privclust.data.matrix.view import CountMatrix
from privclust.data.numbers.view import NumberRows
from privclust.data.papers.door import NonNegativeRows, PaperRows
from privclust.data.points.door import PointRows
from privclust.data.rows import RowSource
from privclust.data.sites.view import SourceRows
from privclust.data.table.view import TableRows
from privclust.families import FAMILIES
from privclust.opening.matrices import OpenedMatrix, open_matrix
from privclust.opening.rows import Opened, PublicFacts, open_numbers, open_points, open_table
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema
from privclust.unit.matrix import MatrixCount
from support.estimators import ESTIMATORS, EstimatorRecord

every_estimator = pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
clusterers = pytest.mark.parametrize(
    "record",
    [
        record
        for record in ESTIMATORS
        if hasattr(record.kind, "fit_predict") and record.public_data is None
    ],
    ids=lambda record: record.name,
)

# All that a door shows: public facts, and the ways to noisy answers.
SHOWN = {"schema", "unit", "domain", "coder", "known_shape"}
SHOWN |= {"private", "table", "check_table", "cut", "within"}

POINTS = np.array([[0.1, 0.9], [0.4, 0.2]])
NUMBERS = Schema.from_bounds(0, 1, n_columns=2)


def doors() -> list[Any]:
    opened = open_points(POINTS, schema=NUMBERS)
    letters = open_table(pd.DataFrame({"a": ["x", "y"], "b": ["y", "x"]}), Categories(["x", "y"]))
    return [
        PointRows(opened),
        PaperRows(opened),
        NonNegativeRows(opened),
        SourceRows(opened),
        NumberRows(open_numbers(POINTS)),
        TableRows(letters),
        CountMatrix(open_matrix(np.eye(2, dtype=int), unit=MatrixCount())),
    ]


def test_doors_show_nothing_but_public_facts_and_noisy_answers() -> None:
    shown = {
        type(door).__name__: {name for name in dir(door) if not name.startswith("_")}
        for door in doors()
    }
    assert {name: more - SHOWN for name, more in shown.items() if not more <= SHOWN} == {}


def test_every_door_is_tried() -> None:
    tried = {type(door) for door in doors()}
    assert {CountMatrix, *subclasses(Door)} - tried == set()


def subclasses(kind: type) -> Iterator[type]:
    """Yield the subclasses that the library has; tests make others."""
    for below in kind.__subclasses__():
        if below.__module__.startswith("privclust."):
            yield below
            yield from subclasses(below)


# What the steps of a fit are given


class Given:
    """What the steps of a fit were called with."""

    def __init__(self, record: EstimatorRecord) -> None:
        self.asked: list[Any] = []
        self.kept: list[Any] = []
        kind = record.kind
        ask, keep = kind._ask, kind._keep

        def noted_ask(model: Any, door: Any, *rest: Any) -> Any:
            self.asked.append(door)
            return ask(model, door, *rest)

        def noted_keep(model: Any, facts: Any, *rest: Any) -> None:
            self.kept.append(facts)
            keep(model, facts, *rest)

        with patch.object(kind, "_ask", noted_ask), patch.object(kind, "_keep", noted_keep):
            record.fit(record.make(), record.data())


@every_estimator
def test_who_asks_has_a_door_and_who_keeps_has_public_facts(record: EstimatorRecord) -> None:
    given = Given(record)
    (door,), (facts,) = given.asked, given.kept
    assert isinstance(door, (Door, CountMatrix))
    assert type(facts) is PublicFacts
    rows = (RowSource, MatrixSource, Opened, OpenedMatrix, Door, CountMatrix, pd.DataFrame)
    assert not [thing for thing in reachable(facts) if isinstance(thing, rows)]
    assert list(inspect.signature(record.kind._release_fields).parameters) == ["self"]


def reachable(start: object) -> Iterator[object]:
    """Yield all that can be reached from an object but by way of classes, functions and modules."""
    seen, waiting = set(), [start]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (type, FunctionType, ModuleType)):
            continue
        seen.add(id(thing))
        yield thing
        waiting.extend(gc.get_referents(thing))


def test_rows_can_be_reached_from_what_is_opened_and_from_a_door() -> None:
    opened = open_points(POINTS, schema=NUMBERS)
    for thing in (opened, PointRows(opened)):
        assert any(isinstance(found, RowSource) for found in reachable(thing))


@clusterers
def test_labels_are_not_kept(record: EstimatorRecord) -> None:
    alone, labelled = record.make(random_state=7), record.make(random_state=7)
    record.fit(alone, record.data())
    labelled.fit_predict(record.data())
    assert vars(labelled).keys() == vars(alone).keys()


# What the families write

PACKAGE = Path(privclust.__file__).parent
FOLDERS = [*(family.folder for family in FAMILIES), "papers"]
# What is as published has no privacy to keep.
MODULES = [
    path
    for folder in FOLDERS
    for path in sorted((PACKAGE / folder).rglob("*.py"))
    if path.name != "published.py"
]
STEPS = {"_ask", "_keep", "_published"}
OWN = {"self", "cls"}
# What a family may use of opened data, which go on to a door; for their holder, all of them.
OF_OPENED = {"schema", "unit"}


def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


def test_what_asks_keeps_or_publishes_imports_nothing_for_the_holder() -> None:
    defining = [
        path
        for path in [*MODULES, PACKAGE / "estimator.py"]
        if any(isinstance(node, ast.FunctionDef) and node.name in STEPS for node in nodes(path))
    ]
    assert len(defining) > len(FAMILIES)
    guilty = {
        path.relative_to(PACKAGE)
        for path in defining
        for node in nodes(path)
        if "privclust.holder" in ast.unparse(node)
        and isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert guilty == set()


def test_no_family_reaches_behind_what_a_door_shows() -> None:
    """Python hides nothing; so names with an underscore are used by their own class alone."""
    guilty = {
        f"{path.relative_to(PACKAGE)}: {ast.unparse(node)}"
        for path in MODULES
        for node in nodes(path)
        if reaches_inside(node)
    }
    assert guilty == set()


def reaches_inside(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        first = node.args[0] if node.args else None
        behind = isinstance(first, ast.Name) and first.id in ("door", "opened", "view")
        return node.func.id in ("getattr", "vars", "dir") and behind
    if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
        return False
    if node.attr in ("_parameters", "_targets", "__name__"):  # of classes, and of what was kept
        return False
    by_super = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
    return not by_super and not (isinstance(node.value, ast.Name) and node.value.id in OWN)


def test_families_hand_opened_data_on_to_a_door() -> None:
    guilty = {
        f"{path.relative_to(PACKAGE)}: {ast.unparse(node)}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "opened"
        and node.attr not in OF_OPENED
    }
    assert guilty == set()
