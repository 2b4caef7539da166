"""Warnings of doubtful public facts, and doubts that noisy values give and the release carries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privclust import Box, PrivateKMeans, Schema
from privclust.exceptions import LowSignalWarning, PublicFactWarning
from privclust.papers.zones.private import PrivateZoneKMeans
from support.datasets import POINTS, SURVEY, points, survey
from support.estimators import ESTIMATORS

KMEANS = (PrivateKMeans, PrivateZoneKMeans)
UNEVEN = Schema({"x": Box(0, 1), "y": Box(0, 11)})
ROWS = np.random.default_rng(0).random((500, 2))


def given_by(model: Any, data: Any, category: type[Warning]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data)
    return [str(warning.message) for warning in caught if warning.category is category]


@pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
@pytest.mark.parametrize(("epsilon", "times"), [(10, 0), (10.1, 1)])
def test_an_epsilon_above_ten_is_warned_of(record, epsilon, times):
    model = record.make(epsilon=epsilon, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = record.data()
        if record.public_data is None:
            model.fit(data)
        else:
            model.fit(record.public_data(), source=data)
    told = [
        w for w in caught if w.category is PublicFactWarning and "almost nobody" in str(w.message)
    ]
    assert len(told) == times


@pytest.mark.parametrize("kind", KMEANS)
@pytest.mark.parametrize(("declared", "times"), [({"rescale": False}, 1), ({}, 0)])
def test_uneven_widths_are_warned_of_unless_they_are_rescaled(kind, declared, times):
    told = given_by(kind(2, schema=UNEVEN, random_state=0, **declared), ROWS, PublicFactWarning)
    assert len(told) == times
    assert all("'y' is more than ten times that of 'x'" in message for message in told)


@pytest.mark.parametrize("kind", KMEANS)
def test_uneven_bounds_are_warned_of_because_they_are_not_rescaled(kind):
    model = kind(2, bounds=([0, 0], [1, 11]), random_state=0)
    assert len(given_by(model, ROWS, PublicFactWarning)) == 1


@pytest.mark.parametrize("kind", KMEANS)
def test_even_widths_are_not_warned_of(kind):
    even = Schema({"x": Box(0, 1), "y": Box(0, 10)})
    model = kind(2, schema=even, rescale=False, random_state=0)
    assert not given_by(model, ROWS, PublicFactWarning)


@pytest.mark.parametrize("kind", KMEANS)
@pytest.mark.parametrize(("bounds", "side"), [((-9, -5), "upper"), ((5, 9), "lower")])
def test_rows_that_likely_lie_outside_of_the_bounds_are_told_with_the_release(kind, bounds, side):
    rows = np.tile(ROWS, (40, 1))
    model = kind(2, bounds=bounds, epsilon=50, random_state=0)
    told = [text for text in given_by(model, rows, LowSignalWarning) if "All centres" in text]
    assert len(told) == 2
    assert all(f"lie at the {side} bound" in text for text in told)
    assert set(told) <= set(model.release().parameters["warnings"])


@pytest.mark.parametrize("kind", KMEANS)
def test_rows_within_the_bounds_are_not_doubted(kind):
    model = kind(2, bounds=(0, 1), epsilon=50, random_state=0).fit(np.tile(ROWS, (40, 1)))
    assert not [text for text in model.warnings_ if "All centres" in text]


def clusterings(delta: float) -> list[tuple[Any, pd.DataFrame]]:
    common = {"epsilon": 2.0, "delta": delta, "random_state": 0}
    rows, answers = points().drop(columns="who"), survey().drop(columns="who")
    return [
        (PrivateKMeans(3, schema=POINTS, **common), rows),
        (PrivateKMeans(3, schema=POINTS, method="lloyd", **common), rows),
        (PrivateZoneKMeans(3, schema=POINTS, **common), rows),
        (PrivateKMeans(3, schema=SURVEY, metric="dilca", **common), answers),
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(("delta", "times"), [(1e-3, 1), (1e-4, 0), (0, 0)])
def test_a_delta_above_one_in_the_noisy_number_of_rows_is_told_with_the_release(
    number, delta, times
):
    model, data = clusterings(delta)[number]
    told = [text for text in given_by(model, data, LowSignalWarning) if text.startswith("δ is")]
    assert len(told) == times
    carried = model.release().parameters.get("warnings", [])
    assert [text for text in carried if text.startswith("δ is")] == told
