"""Guards against sizes that no test data have: scores cut off, steps that never fall, far rows."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import every_question
import numpy as np
import pytest
from every_question import BUDGET, exact_draws, seeded, table

from privclust.data.encode import Domain, clip_to_ball
from privclust.data.question import Pick
from privclust.data.table.kernels import EntropyScale, ExactCounts
from privclust.privacy.meter import Meter
from privclust.schema.ball_fact import Ball
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

BEYOND = 2**60


def test_scores_beyond_what_samplers_take_are_cut_off_and_answered() -> None:
    view = table(Meter(BUDGET), seeded())
    with (
        patch.object(ExactCounts, "conditional", lambda *_: -BEYOND),
        patch.object(Pick, "held", lambda self, exact, n_rows: exact),
        exact_draws() as draws,
    ):
        view.ask_relevant_attributes("q", 0, 1, 4, BUDGET.whole)
    assert draws[0][1].tolist() == [[-(2**52), -(2**52)]]


def context_scores(view: Any, rows: float) -> list[int]:
    with exact_draws() as draws:
        view.ask_relevant_context("q", 0, 1, rows, BUDGET.whole.take("1/4"))
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


@pytest.mark.parametrize("error", [2.0**-15, 2.0**-37, -(2.0**-37)])
def test_a_row_far_outside_a_ball_is_brought_in_though_its_square_is_rounded(error: float) -> None:
    """As the sum of very many squares beyond 2^53 may be."""
    rng = np.random.default_rng(0)
    rows = np.rint(rng.normal(size=(50, 40)) * 2.0**40)
    squares = (rows**2).sum(axis=1) * (1 - error)
    clipped = clip_to_ball(rows.copy(), 2**20, squares).astype(np.int64).astype(object)
    lengths = (clipped**2).sum(axis=1)
    assert max(lengths) <= 2**40
    assert min(lengths) > 0.999 * 2**40


def test_rows_at_the_ends_of_a_vast_box_come_to_the_edge_of_a_tiny_ball() -> None:
    columns = {name: Box(-1e150, 1e150) for name in "xyz"}
    domain = Domain.from_schema(Schema(columns, ball=Ball(1e-3, (0.0, 0.0, 0.0))))
    grid = domain.to_grid(np.array([[1e150, -1e150, 0.0], [1e150, 1.0, 1.0], [0.0, 1e-3, 0.0]]))
    squares = (grid**2).sum(axis=1)
    assert (squares <= 2.0**40).all()
    assert (squares > 0.999 * 2.0**40).all()
