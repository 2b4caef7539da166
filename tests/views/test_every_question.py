"""What holds of every question of every view: paid before it is read, and noised in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from every_question import (
    BUDGET,
    NO_QUESTIONS,
    QUESTIONS,
    Asked,
    UnreadError,
    exact_draws,
    seeded,
)

import privclust
from privclust.budget import Loss
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.numbers.view import NumbersView
from privclust.data.papers.view import PapersView
from privclust.data.points.view import PointsView
from privclust.data.sites.view import SitesView
from privclust.data.table.view import TableView
from privclust.exceptions import BudgetExceededError
from privclust.privacy.meter import Meter

VIEWS = (
    PointsView,
    PapersView,
    TableView,
    SitesView,
    MatrixView,
    ProfilesView,
    NumbersView,
)

# Questions of several parts, each of which is paid for.
PARTS = {"clusters": 3, "grouped_clusters": 3, "cells": 2}


@pytest.mark.parametrize("view", VIEWS)
def test_the_list_has_every_question(view: type) -> None:
    methods = {name for name in vars(view) if not name.startswith("_")}
    callables = {name for name in methods if callable(getattr(view, name))}
    listed = {
        asked.method for asked in QUESTIONS if type(asked.view(Meter(BUDGET), seeded())) is view
    }
    # Whoever reads an algorithm sees by the name where it spends.
    assert callables - NO_QUESTIONS == {f"ask_{name}" for name in listed}


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_a_question_that_cannot_be_paid_for_reads_nothing(asked: Asked) -> None:
    meter = Meter(BUDGET)
    meter.charge("all there is", Loss(None, BUDGET.amount))
    view = asked.view(meter, seeded(), readable=False)
    with pytest.raises(BudgetExceededError):
        asked.ask(view, BUDGET.whole)


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_a_question_that_is_paid_for_reads_the_rows(asked: Asked) -> None:
    """Else the test above would not be about reading."""
    with pytest.raises(UnreadError):
        asked.ask(asked.view(Meter(BUDGET), seeded(), readable=False), BUDGET.whole)


@pytest.mark.parametrize("asked", [asked for asked in QUESTIONS if asked.method in PARTS], ids=str)
def test_where_one_part_cannot_be_paid_for_no_part_is_debited(asked: Asked) -> None:
    """The shares of all parts but the last are left."""
    meter, n_parts = Meter(BUDGET), PARTS[asked.method]
    meter.charge("before", Loss(None, BUDGET.amount / n_parts))
    view = asked.view(meter, seeded(), readable=False)
    with pytest.raises(BudgetExceededError):
        asked.ask(view, BUDGET.whole)
    assert [charge.query for charge in meter.charges] == ["before"]
    assert meter.spent.rho == BUDGET.amount / n_parts


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_a_question_spends_its_share_and_no_more(asked: Asked) -> None:
    meter = Meter(BUDGET)
    with exact_draws() as draws:
        asked.ask(asked.view(meter, seeded()), BUDGET.whole)
    assert draws
    assert 0.999 * BUDGET.amount < meter.spent.rho <= BUDGET.amount


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_a_question_says_in_plain_words_what_it_asks(asked: Asked) -> None:
    meter = Meter(BUDGET)
    view = asked.view(meter, seeded())
    asked.ask(view, BUDGET.whole)
    for charge in meter.charges:
        part = charge.query.partition(": ")[2] or asked.method
        assert charge.asks == view.asks[part]
        assert re.fullmatch(r"(how|in which|what|where|which) [a-z, -]{10,70}", charge.asks)


@pytest.mark.parametrize("view", VIEWS)
def test_no_words_are_left_of_a_question_that_is_gone(view: type) -> None:
    parts = {"counts", "offsets", "shape", "square", "sums"}
    asked = {name.removeprefix("ask_") for name in dir(view) if name.startswith("ask_")}
    assert set(view.asks) <= asked | parts


def test_mechanisms_are_drawn_from_in_one_place() -> None:
    """There the exact integers are held to what the rows can add up to."""
    package = Path(privclust.__file__).parent
    drawing = {
        path.relative_to(package).as_posix()
        for path in (package / "data").rglob("*.py")
        if re.search(r"\.draw\(|_noise\.\w+\(|noise\.(laplace|gaussian|ball)\(", path.read_text())
    }
    assert drawing == {"data/view.py"}
