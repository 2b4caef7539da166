"""Scores of tables that no data set of this size has: cut off, kept apart, and never falling."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import every_question
import numpy as np
import pytest
from every_question import BUDGET, exact_draws, seeded, table

from privclust.data.encode import clip_to_ball
from privclust.data.table.counts import ExactCounts
from privclust.data.table.kernels import EntropyScale
from privclust.data.terms import Term
from privclust.privacy.meter import Meter

BEYOND = 2**60


def test_scores_beyond_what_samplers_take_are_cut_off_and_answered() -> None:
    view = table(Meter(BUDGET), seeded())
    boundless = Term(-(2**60), 2**60)
    with (
        patch.object(ExactCounts, "conditional", lambda *_: -BEYOND),
        patch.object(EntropyScale, "score_term", boundless),
        exact_draws() as draws,
    ):
        view.relevant_attributes("q", 0, 1, 4, BUDGET.whole)
    assert draws[0][1].tolist() == [[-(2**52), -(2**52)]]


def context_scores(view: Any, rows: float) -> list[int]:
    with exact_draws() as draws:
        view.relevant_context("q", 0, 1, rows, BUDGET.whole.take("1/4"))
    return draws[0][1].tolist()


def test_sums_of_one_scale_are_not_used_for_another() -> None:
    with patch.object(every_question, "CODES", np.repeat(every_question.CODES, 10, axis=0)):
        view, new = (table(Meter(BUDGET), seeded()) for _ in range(2))
    first, second = context_scores(view, 2), context_scores(view, 40)
    assert second == context_scores(new, 40)
    assert first != second


def test_steps_never_fall_where_floats_are_too_coarse_for_them() -> None:
    """At 2^40 rows the rounded steps of n log n fall here and there; their running maximum not."""
    scale = EntropyScale(2**40)
    counts = np.unique(np.geomspace(2**36, 2**40, 20_000).astype(np.int64))
    steps = scale(counts + 1) - scale(counts)
    assert (np.diff(steps) >= 0).all()
    n = counts.astype(np.float64)
    rounded = np.rint(2**20 * ((n + 1) * np.log2(n + 1) - n * np.log2(n)))
    assert (np.diff(rounded) < 0).any()


@pytest.mark.parametrize("radius", [1, 5, 2**11, 2**20, 2**21])
def test_a_row_that_is_shortened_ends_within_the_radius_and_not_on_it(radius: int) -> None:
    """Rounding in the last place is given away, so that no proof has to count it."""
    rows = np.array([[2.0 * radius, 0], [0, -4.0 * radius], [6.0 * radius, 8.0 * radius]])
    squares = (clip_to_ball(rows, radius) ** 2).sum(axis=1)
    assert (squares < radius**2).all()
