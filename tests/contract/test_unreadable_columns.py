"""A column that no value can be read from is warned of by opening, at the caller's own line."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from privclust import Bins, Box, PrivateBounds, PrivateKMeans, Schema
from privclust.exceptions import DataError, PublicFactWarning
from support.estimators import ESTIMATORS, EstimatorRecord

TABLES = [record for record in ESTIMATORS if isinstance(record.data(), pd.DataFrame)]
every_table = pytest.mark.parametrize("record", TABLES, ids=lambda record: record.name)


def lenient(fact: Any) -> Any:
    """Return a fact with rules that no value breaks."""
    if isinstance(fact, Box) and fact.form == "date":
        return Box("2020-01-01", "2024-12-31", missing="2020-01-01")
    if isinstance(fact, Box):
        return replace(fact, missing=fact.low)
    if isinstance(fact, Bins):
        return replace(fact, missing="category")
    return replace(fact, missing="category", unknown="other")


def total(record: EstimatorRecord) -> dict[str, Any]:
    """Return the parameters that make the rules of an estimator total."""
    if record.kind is PrivateBounds:
        return {"unreadable": "missing"}
    declared = record.parameters["schema"]
    return {"schema": Schema({name: lenient(fact) for name, fact in declared.columns.items()})}


def with_durations(record: EstimatorRecord, place: int) -> tuple[Any, str]:
    """Return data of which one column is of a type that no declared fact can mean."""
    data = record.data().copy()
    name = list(data.columns)[place]
    data[name] = np.arange(len(data)).astype("timedelta64[s]")
    return data, name


def warned(fit: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [
        w for w in caught if w.category is PublicFactWarning and "no such value" in str(w.message)
    ]


@every_table
@pytest.mark.parametrize("place", [0, -1])
def test_every_estimator_warns_at_the_line_that_called_it(record, place):
    data, name = with_durations(record, place)
    model = record.make(random_state=0, **total(record))
    public = None if record.public_data is None else record.public_data()

    def fit() -> None:
        if public is None:
            model.fit(data)
        else:
            model.fit(public, source=data)

    (told,) = warned(fit)
    assert told.filename == __file__
    assert f"Column {name!r} holds" in str(told.message)
    assert str(told.message).endswith("declare what it holds.")


@every_table
def test_a_strict_rule_refuses_such_a_column_when_it_is_opened(record):
    data, name = with_durations(record, 0)
    with pytest.raises(DataError, match=f"Column {name!r}"):
        record.fit(record.make(), data)


@every_table
def test_columns_that_can_be_read_are_not_warned_of(record):
    model, data = record.make(random_state=0, **total(record)), record.data()

    def fit() -> None:
        if record.public_data is None:
            model.fit(data)
        else:
            model.fit(record.public_data(), source=data)

    assert warned(fit) == []


def test_a_step_of_a_pipeline_is_not_taken_for_the_caller():
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50).astype("timedelta64[s]")})
    schema = Schema({name: Box(0, 50, missing=0) for name in frame})
    model = make_pipeline(PrivateKMeans(2, epsilon=1, schema=schema, random_state=0))
    (told,) = warned(lambda: model.fit(frame))
    assert told.filename == __file__
