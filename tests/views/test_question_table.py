"""The sensitivities of all questions are those of one lemma, from what one row more can change.

``TABLE`` says by hand what a row more changes in each part of an answer, in the order of drawing.
Every question is asked under every unit and in both currencies, and the mechanism that is drawn
from must be the one that the lemma makes of the table.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import pytest
from every_question import (
    CELLS,
    CENTRES,
    CLIPPED,
    FRAME,
    QUESTIONS,
    TARGETS,
    Asked,
    exact_draws,
    seeded,
)

from privclust.budget import Budget, Share
from privclust.data.baselines.kernels import SwapCosts
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
from privclust.unit import AddRemoveRow, MatrixCount, MatrixEntry, MatrixRow, Person, ReplaceRow
from privclust.unit.step import UnitStep

STEEPEST = EntropyScale(4).steepest
CLIP = ClusterSums(FRAME, CENTRES, 0.5).length
SWAP = SwapCosts(CLIPPED, CENTRES, CELLS).largest
N_SITES, APART = len(TARGETS), 2**21
# Of n sites in d dimensions: an L1 norm of at most ⌊√d · 2R⌋ each.
AVERAGES = Size(N_SITES * isqrt(TARGETS.shape[1] * APART**2), N_SITES * APART**2, N_SITES * APART)

COUNT = ("numbers", Term.cells())
AROUND = [COUNT, ("vectors", Term.vector(CLIP)), ("numbers", Term.within(2**20))]
POINTS: dict[str, list[Any]] = {
    "count": [COUNT],
    "clusters": AROUND,
    "grouped_clusters": AROUND,
    "second_moments": [("vectors", Term.vector(5 * 2**14))],
    "choices": [("best", Scores(0, 1))],
    "zone_cells": [COUNT],
    "cluster_histograms": [COUNT],
}
MATRIX: dict[str, list[Any]] = {
    **{key: [COUNT] for key in ("total", "row_table", "column_table", "block_table")},
    **{key: [("bounded", Scores(0, 2**20))] for key in ("choose_rows", "choose_columns")},
}
TABLE: dict[str, dict[str, list[Any]]] = {
    "points": POINTS,
    "embedded": POINTS,
    "baselines": {
        "best_swap": [("best", Scores(-SWAP, 0))],
        "factor_sums": [("vectors", Term.vector(isqrt(2 * 2**40) + 1))],
        "critic_gradients": [("vectors", Term.vector(2**14))],
    },
    "table": {
        "count": [COUNT],
        "histograms": [("numbers", Term.cells(3))],
        "pair_tables": [("numbers", Term.cells(2))],
        "entropies": [("numbers", Term.within(STEEPEST, 2))],
        "relevant_attributes": [("top 1", Scores(-STEEPEST, 0))],
        "relevant_context": [("bounded", Scores(-STEEPEST, 0))],
        "spanning_tree": [("bounded", Scores(-1, 1))] * 2,
    },
    "numbers": {"count": [COUNT], "histograms": [COUNT]},
    "sites": {
        "count": [COUNT],
        "histogram": [COUNT],
        "cells": [COUNT, ("vectors", Term.vector(2**20))],
        "nearest_distance": [("numbers", Term.within(N_SITES * APART))],
        "nearest_averages": [("numbers", Term(AVERAGES, AVERAGES, -(2**20), 2**20))],
    },
    "counts": MATRIX,
    "entries": MATRIX,
    "profiles": {
        "profile_sums": [("vectors", Term.vector(2**14))],
        "block_shares": [("vectors", Term.vector(2**14))],
    },
}
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


def of_the_lemma(kind: str, term: Any, share: Share, step: UnitStep) -> Any:
    if isinstance(term, Scores):
        spread = Fraction(term.over(step))
        if kind == "top 1":
            return NoisyTopK.within(share, spread, 1)
        best = kind == "best" and share.currency == "pure"
        return (PermuteAndFlip if best else Exponential).within(share, spread)
    size = term.over(step)
    if share.currency == "zcdp":
        return DiscreteGaussian.within(share, Fraction(size.square))
    if kind == "vectors":
        return BallLaplace.within(share, Fraction(size.length))
    return DiscreteLaplace.within(share, Fraction(size.l1))


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
        table = TABLE[family][asked.method]
        if (family, asked.method, unit) == ("table", "count", ReplaceRow()):
            assert not draws  # the number of rows is public
            continue
        part = budget.split([1] * len(table))[0]
        lemma = [of_the_lemma(kind, term, part, STEPS[unit]) for kind, term in table]
        assert [mechanism for mechanism, _ in draws] == lemma
