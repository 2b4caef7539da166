"""The sensitivities of all questions are those of one lemma and of the table in the proofs.

``proofs/question.md`` says in a table what one more row changes in each part of an answer. Every
question is asked under every unit and in both currencies, and the mechanisms that are drawn from
must be those that the lemma makes of the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isqrt
from pathlib import Path
from typing import Any

import pytest
from every_question import (
    CELLS,
    CENTRES,
    CLIPPED,
    COMPONENTS,
    FRAME,
    QUESTIONS,
    TARGETS,
    Asked,
    exact_draws,
    seeded,
)

from privclust.budget import Budget, Share
from privclust.data.papers.kernels import SwapCosts
from privclust.data.points.components import ComponentSums
from privclust.data.points.kernels import ClusterSums
from privclust.data.question import Scores, Size, Term
from privclust.data.table.kernels import EntropyScale
from privclust.privacy.mechanisms import (
    BallLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NoisyTopK,
    PermuteAndFlip,
)
from privclust.privacy.meter import Meter
from privclust.unit.base import UnitStep
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow

PAGE = Path(__file__).parents[2] / "proofs" / "question.md"
# | view: `method`, `method`: part of the answer | `declared`, ... |
LINE = re.compile(r"^\| (\w+): ((?:`\w+`(?:, )?)+)[^|]* \| `([^`]+)`[^|]* \|", re.MULTILINE)
VIEWS = {"points": ["points", "embedded"], "matrix": ["counts", "entries"]}


# The lengths of a row's lines: of components of their own shapes, of tied ones, and of their shape.
LINES = [
    question.term.added.length
    for tied in (False, True)
    for question in ComponentSums(replace(COMPONENTS, tied=tied)).questions.values()
]


def both(l1: int, square: int, length: int) -> Term:
    return Term(Size(l1, square, length), Size(l1, square, length), 0, 0)


# What the letters of the table are, of the questions in every_question.py.
WORDS = {
    **{"cells": Term.cells, "vector": Term.vector, "within": Term.within},
    **{"both": both, "Scores": Scores},
    **{"L": ClusterSums(FRAME, CENTRES, 0.5).length, "r": 2**7, "C": 2},
    **{"m": 3, "T": 2, "k": 2, "G": EntropyScale(4).steepest},
    **{"S": 2**20, "n": len(TARGETS), "A": isqrt(TARGETS.shape[1] * 2**42)},
    **{"w": 2**20, "B": isqrt(2 * 2**40) + 1},
    **dict(zip(("M", "N", "P"), LINES, strict=True)),
}
OTHER_WORDS = {
    ("numbers", "histograms"): {"m": 2},
    ("papers", "best_swap"): {"L": SwapCosts(CLIPPED, CENTRES, CELLS).largest},
}
# How it is picked, and how often in turn.
LAWS = defaultdict(lambda: "bounded", choices="best", best_swap="best", relevant_attributes="top 1")
TURNS = {"spanning_tree": 2}


def table_of_the_page() -> dict[tuple[str, str], list[Any]]:
    """Return what is declared about each part of each question, in words and as a term."""
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    text = re.sub(r"<!--.*?-->", "", PAGE.read_text("utf-8"))
    for view, methods, declared in LINE.findall(text):
        code = declared.replace("^", "**").replace("·", "*").replace("²", "**2")
        for method in re.findall(r"\w+", methods):
            words = WORDS | OTHER_WORDS.get((view, method), {})
            term = eval(code, {"__builtins__": {}}, words)  # noqa: S307
            for name in VIEWS.get(view, [view]):
                found[name, method] += [(declared, term)] * TURNS.get(method, 1)
    return found


TABLE = table_of_the_page()
BUDGETS = {"pure": Budget(2), "zcdp": Budget(2, 1e-6)}
ROW_UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 3)]
OTHER_UNITS = {"counts": MatrixCount(), "entries": MatrixEntry(3), "profiles": MatrixRow()}
# By hand: terms on one side, or one that is replaced.
STEPS = {
    AddRemoveRow(): UnitStep(1),
    ReplaceRow(): UnitStep(1, replaces=True),
    Person("who", 3): UnitStep(3),
    MatrixCount(): UnitStep(1),
    MatrixEntry(3): UnitStep(3),
    MatrixRow(): UnitStep(1),
}
CASES = [
    pytest.param(asked, currency, id=f"{asked}, {currency}")
    for asked, currency in product(QUESTIONS, BUDGETS)
    if (asked.view.__name__, currency) != ("profiles", "pure")  # which takes zCDP alone
]


def of_the_lemma(method: str, declared: Any, share: Share, step: UnitStep) -> Any:
    words, term = declared
    if isinstance(term, Scores):
        spread = Fraction(term.over(step))
        if LAWS[method] == "top 1":
            return NoisyTopK.within(share, spread, 1)
        best = LAWS[method] == "best" and share.currency == "pure"
        return (PermuteAndFlip if best else Exponential).within(share, spread)
    size = term.over(step)
    if share.currency == "zcdp":
        return DiscreteGaussian.within(share, Fraction(size.square))
    if words.startswith("vector"):
        return BallLaplace.within(share, Fraction(size.length))
    return DiscreteLaplace.within(share, Fraction(size.l1))


def test_the_table_has_every_question() -> None:
    assert TABLE.keys() == {(asked.view.__name__, asked.method) for asked in QUESTIONS}


@pytest.mark.parametrize("unit", STEPS, ids=str)
def test_a_unit_says_what_a_step_is(unit: Any) -> None:
    assert unit.one_step == STEPS[unit]


@pytest.mark.parametrize(("asked", "currency"), CASES)
def test_what_is_drawn_from_is_what_the_lemma_makes_of_the_table(
    asked: Asked, currency: str
) -> None:
    family, budget = asked.view.__name__, BUDGETS[currency]
    units = [OTHER_UNITS[family]] if family in OTHER_UNITS else ROW_UNITS
    for unit in units:
        view = asked.view(Meter(budget), seeded())
        view._unit = unit
        with exact_draws() as draws:
            asked.ask(view, budget.whole)
        table = TABLE[family, asked.method]
        if (family, asked.method, unit) == ("table", "count", ReplaceRow()):
            assert not draws  # the number of rows is public
            continue
        part = budget.split([1] * len(table))[0]
        lemma = [of_the_lemma(asked.method, term, part, STEPS[unit]) for term in table]
        assert [mechanism for mechanism, _ in draws] == lemma
