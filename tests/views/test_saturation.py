"""Statistics saturate: a kernel wrong by 2^63 moves no answer beyond what its rows allow."""

from __future__ import annotations

import dataclasses
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from every_question import (
    BUDGET,
    COUNTS,
    POINTS,
    QUESTIONS,
    TARGETS,
    Asked,
    exact_draws,
    seeded,
)

from privclust.data.points.kernels import SQUARE_LEVELS
from privclust.data.sites.public import SOURCE_STEPS
from privclust.data.table.asked import Entropies
from privclust.data.table.kernels import EntropyScale
from privclust.exceptions import DataError
from privclust.privacy.meter import Meter
from support.terms import unguarded

N_ROWS, CLIP = len(POINTS), 2**19
STEEPEST = EntropyScale(4).steepest
TOTAL = int(COUNTS.sum())

# The kernel that each question rests on, and by hand the range of what so many rows can add up to,
# one for each answer. The weights of the choices have steps of 2^20.
ONE = (0, N_ROWS)
BALL = (-N_ROWS * SOURCE_STEPS, N_ROWS * SOURCE_STEPS)
AROUND = [ONE, (-N_ROWS * CLIP, N_ROWS * CLIP), (0, N_ROWS * SQUARE_LEVELS)]
# A line is at most 2^27 long: 2^10 parts of a responsibility times 2^17, and one for rounding up.
LINES = [(-N_ROWS * (2**27 + 2**10), N_ROWS * (2**27 + 2**10))] * 3
POINT_RANGES: dict[str, tuple[str, list[tuple[int, int]]]] = {
    "count": ("points.kernels.RowCount.__call__", [ONE]),
    "clusters": ("points.kernels.block_sums", AROUND),
    "grouped_clusters": ("points.kernels.block_sums", AROUND),
    "second_moments": (
        "points.kernels.outer_products",
        [(-N_ROWS * 7 * 2**13, N_ROWS * 5 * 2**14)],
    ),
    "components": ("points.components.ComponentSums.__call__", LINES),
    "cluster_histograms": ("points.kernels.ClusterHistograms.__call__", [ONE]),
}
RANGES: dict[str, dict[str, tuple[str, list[tuple[int, int]]]]] = {
    "points": POINT_RANGES,
    "embedded": POINT_RANGES,
    "papers": {
        "choices": ("papers.kernels.zone_counts", [ONE]),
        "zone_cells": ("papers.kernels.zone_counts", [ONE]),
        # Squared distances of a frame of radius 1, with 2^20 steps.
        "best_swap": (
            "papers.kernels.SwapCosts.__call__",
            [(-N_ROWS * 4 * 2**40, 0)],
        ),
        "factor_sums": (
            "papers.kernels.FactorSums.__call__",
            [(-N_ROWS * 2**20, N_ROWS * 2**20)],
        ),
        "critic_gradients": (
            "papers.kernels.CriticGradients.__call__",
            [(-N_ROWS * 2**14, N_ROWS * 2**14)],
        ),
    },
    "table": {
        "count": ("table.kernels.pair_counts", [ONE]),
        "histograms": ("table.kernels.pair_counts", [ONE]),
        "pair_tables": ("table.kernels.pair_counts", [ONE]),
        "entropies": ("table.kernels.EntropyScale.__call__", [(0, N_ROWS * STEEPEST)]),
        "relevant_attributes": (
            "table.kernels.EntropyScale.__call__",
            [(-N_ROWS * STEEPEST, 0)],
        ),
        "relevant_context": ("table.kernels.subset_sums", [(-N_ROWS * STEEPEST, 0)]),
        # The margins expect nine cells of at most one row each, four in all after rounding.
        "spanning_tree": ("table.kernels.pair_counts", [(0, N_ROWS + 9)] * 2),
    },
    "numbers": {
        "count": ("points.kernels.RowCount.__call__", [ONE]),
        "histograms": ("numbers.kernels.CellCounts.__call__", [ONE]),
    },
    "sites": {
        "count": ("points.kernels.RowCount.__call__", [ONE]),
        "histogram": ("sites.kernels.ring_counts", [ONE]),
        "cells": ("sites.kernels.cell_sums", [ONE, BALL]),
        "nearest_distance": (
            "sites.kernels.NearestRows.padded_distances",
            [(0, 2 * len(TARGETS) * 2 * SOURCE_STEPS)],
        ),
        "nearest_averages": (
            "sites.kernels.NearestRows.padded_sums",
            [(-2 * SOURCE_STEPS, 2 * SOURCE_STEPS)],
        ),
    },
    "counts": {
        "total": ("matrix.kernels.block_sums", [(0, TOTAL)]),
        "row_table": ("matrix.kernels.row_sums", [(0, TOTAL)]),
        "column_table": ("matrix.kernels.column_sums", [(0, TOTAL)]),
        "block_table": ("matrix.kernels.block_sums", [(0, TOTAL)]),
        "row_choices": ("matrix.kernels.row_scores", [(0, TOTAL * 2**20)]),
        "column_choices": ("matrix.kernels.column_scores", [(0, TOTAL * 2**20)]),
    },
    "profiles": {
        "profile_sums": ("matrix.kernels.column_sums", [(0, 2 * 2**14)]),
        "block_shares": ("matrix.kernels.BlockShares.__call__", [(0, 2 * 2**14)]),
    },
}
RANGES["entries"] = RANGES["counts"]


def broken(result: Any, value: int) -> Any:
    """Return a result of the same shape with this value everywhere."""
    if isinstance(result, int):
        return value
    if isinstance(result, np.ndarray):
        return np.full(result.shape, value, np.int64)
    if isinstance(result, dict):
        return {key: value if place % 2 else -value for place, key in enumerate(result)}
    parts = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return type(result)(**{name: broken(part, value) for name, part in parts.items()})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [-(2**63), -(2**62), 2**62, 2**63 - 1])
@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_no_kernel_however_wrong_moves_an_answer_beyond_its_rows(asked: Asked, value: int) -> None:
    place, ranges = RANGES[asked.view.__name__][asked.method]
    target = f"privclust.data.{place}"
    module, name = target.removesuffix(".__call__").rsplit(".", 1)
    original = _resolved(module, name, place)
    view = asked.view(Meter(BUDGET), seeded())
    with (
        patch(target, lambda *args, **options: broken(original(*args, **options), value)),
        exact_draws() as draws,
    ):
        asked.ask(view, BUDGET.whole)
    assert len(draws) == len(ranges)
    for (_, exact), (low, high) in zip(draws, ranges, strict=True):
        assert exact.min() >= low, (exact.min(), low)
        assert exact.max() <= high, (exact.max(), high)


def _resolved(module: str, name: str, place: str) -> Any:
    import importlib

    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:  # a method of a class
        home, kind = module.rsplit(".", 1)
        return getattr(getattr(importlib.import_module(home), kind), name)
    return found.__call__ if place.endswith("__call__") else found


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
def test_what_a_right_kernel_finds_is_left_as_it_is(asked: Asked) -> None:
    with exact_draws() as held:
        asked.ask(asked.view(Meter(BUDGET), seeded()), BUDGET.whole)
    with unguarded(), exact_draws() as free:
        asked.ask(asked.view(Meter(BUDGET), seeded()), BUDGET.whole)
    for (_, one), (_, other) in zip(held, free, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sums_that_could_wrap_around_are_refused() -> None:
    """Entropies pass 2^63 at some 2 · 10^11 rows."""
    asked = Entropies(EntropyScale(2 * 10**11), [(0,)]).question
    assert asked.held(np.array([5]), 2 * 10**11).tolist() == [5]
    with pytest.raises(DataError, match="more rows than 64-bit sums can hold"):
        asked.held(np.array([5]), 3 * 10**11)
