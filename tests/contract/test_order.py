"""Nothing that leaves depends on the order of rows, for any estimator, unit, method and metric.

Everything exact that can leave passes through a mechanism. So a fit is recorded, and the answers
are given again to a fit on the same rows in another order: mechanisms must be asked the very same.
Neighbours in another order must stay within the sensitivity. Rows are coarse, so that many are
equal and distances tie, which is where an order could creep in.

What is tried is read from the estimators themselves: every record of :data:`ESTIMATORS`, every
unit, and every word that the type of a parameter allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from privclust import Box, MatrixCount, MatrixRow, Person, ReplaceRow, Schema
from privclust.data import rows as base
from privclust.data.sites.distances import METRICS
from privclust.exceptions import ParameterError
from support.datasets import places
from support.estimators import ESTIMATORS, EstimatorRecord
from support.transcripts import allowed_change, change, recorded_draws, replayed_draws

N_ROWS, N_PEOPLE = 360, 90
CHOICES = ("method", "metric", "rule")
# What has no words of its own but asks other questions, or sees rows in another way.
MORE = {
    "PrivateKMeans": [{"profile_share": 0.2}],
    "PrivateKMeans-mixed": [{"profile_share": 0.2}],
    "PrivateNearestMedoids": [
        {"method": "nas", "spread_share": 0.3},
        {"method": "nna", "n_projected": 1},
    ],
}


def coarse(data: Any) -> Any:
    """Return few rows of a table, each of few values, of people who repeat themselves."""
    if not isinstance(data, pd.DataFrame):
        return data
    rows = data.head(N_ROWS).reset_index(drop=True)
    for name in rows.columns:
        if rows[name].dtype.kind == "f":
            rows[name] = (rows[name] / 2.5).round() * 2.5
        elif rows[name].dtype.kind == "M":
            rows[name] = rows[name].dt.floor("365D")
    if "who" in rows:
        rows["who"] = np.random.default_rng(0).integers(N_PEOPLE, size=len(rows))
    return rows


def _lattice() -> pd.DataFrame:
    """Return targets to which many coarse sources are equally near; none at the origin."""
    inner = [place for place in product(np.arange(0, 12.5, 2.5), repeat=2) if 0 < sum(place) < 20]
    return pd.DataFrame(inner, columns=["x", "y"])


def _distances() -> pd.DataFrame:
    target, source = places()
    lengths = cdist(source[["x", "y"]], target[["x", "y"]][:40]).round()
    names = [f"t{number}" for number in range(40)]
    return pd.DataFrame(lengths, columns=names).assign(who=source["who"])


def _between_targets() -> pd.DataFrame:
    points = places()[0][["x", "y"]][:40]
    return pd.DataFrame(cdist(points, points).round(), columns=_distances().columns[:-1])


def _by_distances(record: EstimatorRecord) -> EstimatorRecord:
    """Return the record of an estimator beside a source, on tables of distances."""
    bounds = Schema({name: Box(0, 20) for name in _distances().columns[:-1]})
    return replace(
        record,
        private_data=_distances,
        public_data=_between_targets,
        parameters={**record.parameters, "schema": bounds, "metric": "precomputed"},
    )


def words_of(hint: Any) -> list[str]:
    """Return the words that a type allows."""
    if get_origin(hint) is Literal:
        return [word for word in get_args(hint) if isinstance(word, str)]
    return [word for part in get_args(hint) for word in words_of(part)]


def choices_of(record: EstimatorRecord) -> dict[str, list[str]]:
    """Return the words for each parameter of an estimator that has some."""
    hints = get_type_hints(record.kind.__init__)
    found = {name: words_of(hints[name]) for name in CHOICES if name in hints}
    if record.methods and not found.get("method"):
        found["method"] = list(record.methods)
    return {name: words for name, words in found.items() if words}


def refused(record: EstimatorRecord, unit: Any, options: dict[str, Any]) -> bool:
    """Return whether words do not go together, or not with such data."""
    metric, method = options.get("metric"), options.get("method", "auto")
    return (
        (metric == "dilca" and not record.parameters["schema"].categorical)
        or (record.positional == ("auto",) and method != "auto")
        or (options.get("rule") == "tau" and isinstance(unit, MatrixRow))
    )


def options_of(record: EstimatorRecord) -> list[dict[str, Any]]:
    choices = choices_of(record)
    combined = [dict(zip(choices, words, strict=True)) for words in product(*choices.values())]
    return combined + MORE.get(record.name, [])


ALL = [
    (record, unit, options)
    for record in ESTIMATORS
    for unit in record.units
    for options in options_of(record)
]
CASES = [case for case in ALL if not refused(*case)]
NAMES = [
    " ".join([record.name, unit.name, *(f"{name}={value}" for name, value in options.items())])
    for record, unit, options in CASES
]
every_case = pytest.mark.parametrize("case", range(len(CASES)), ids=NAMES)


def made(record: EstimatorRecord, unit: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the record for such options, and its coarse data."""
    if options.get("metric") == "precomputed":
        record = _by_distances(record)
    elif record.public_data is not None:
        record = replace(record, public_data=_lattice)
    return record, coarse(record.data(unit))


def fit(record: EstimatorRecord, unit: Any, options: dict[str, Any], data: Any) -> None:
    record.fit(record.make(unit, random_state=7, **options), data)


@cache
def recorded(case: int, delta: float) -> list[Any]:
    """Return what a fit asks and is told."""
    record, unit, options = CASES[case]
    record, data = made(record, unit, options)
    with recorded_draws() as draws:
        fit(record, unit, _paid(options, unit, delta), data)
    assert draws
    return draws


def told_the_same(
    case: int, data: Any, delta: float = 0, draws: list[Any] | None = None, **changes: Any
) -> Iterator[tuple[Any, Any]]:
    """Return what a fit asks, beside what it asks about other data if answers are the same."""
    record, unit, options = CASES[case]
    draws = draws or recorded(case, delta)
    record, _ = made(record, unit, options)
    with replayed_draws([draw.answer for draw in draws]) as twins:
        fit(record, unit, _paid(options, unit, delta) | changes, data)
    assert [twin.mechanism for twin in twins] == [draw.mechanism for draw in draws]
    return zip(draws, twins, strict=True)


def _paid(options: dict[str, Any], unit: Any, delta: float) -> dict[str, Any]:
    # Whole rows of a matrix can be protected only with a δ.
    return options | {"delta": 1e-6 if isinstance(unit, MatrixRow) else delta}


def shuffled(data: Any, unit: Any, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """Return data in another order, and what must be declared to read them.

    A matrix becomes triples, one for each count, whose order means nothing. Its rows have an order,
    unless they are what is protected.
    """
    rng = np.random.default_rng(seed)
    if isinstance(data, pd.DataFrame):
        return data.iloc[rng.permutation(len(data))], {}
    if isinstance(unit, MatrixRow):
        data = data[rng.permutation(data.shape[0])]
    entries = sparse.coo_array(data)
    parts = rng.permutation(np.repeat(np.arange(entries.nnz), entries.data))
    triples = {"row": entries.row[parts], "column": entries.col[parts], "count": 1}
    return pd.DataFrame(triples), {"shape": data.shape}


def neighbour(data: Any, unit: Any) -> Any:
    """Return data one step away."""
    if not isinstance(data, pd.DataFrame):
        other = sparse.csr_array(data)
        if isinstance(unit, MatrixRow):
            return other[:-1]
        other = other.tolil()
        other[3, 5] += 1 if isinstance(unit, MatrixCount) else 2
        return other.tocsr()
    if isinstance(unit, Person):
        return data[data["who"] != data["who"].mode()[0]]
    if isinstance(unit, ReplaceRow):
        other = int((data != data.iloc[0]).sum(axis=1).argmax())
        return pd.concat([data.iloc[1:], data.iloc[[other]]])
    return data.iloc[1:]


@every_case
def test_rows_in_another_order_are_the_same_rows(case):
    record, unit, options = CASES[case]
    _, data = made(record, unit, options)
    other, changes = shuffled(data, unit)
    for draw, twin in told_the_same(case, other, **changes):
        np.testing.assert_array_equal(draw.exact, twin.exact)


@every_case
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_neighbours_in_another_order_stay_within_the_sensitivity(case, delta):
    record, unit, options = CASES[case]
    _, data = made(record, unit, options)
    other, changes = shuffled(neighbour(data, unit), unit)
    moved = False
    for draw, twin in told_the_same(case, other, delta, **changes):
        assert change(draw.mechanism, draw.exact, twin.exact) <= allowed_change(draw.mechanism)
        moved |= not np.array_equal(draw.exact, twin.exact)
    assert moved


OF_ROWS = [case for case in range(len(CASES)) if not CASES[case][1].name.startswith("matrix")]


@pytest.mark.parametrize("case", OF_ROWS, ids=[NAMES[case] for case in OF_ROWS])
def test_rows_that_are_read_one_by_one_are_the_same_rows(case, monkeypatch):
    """Rows are not coarse here, so that every bit of their numbers counts."""
    record, unit, options = CASES[case]
    record, _ = made(record, unit, options)
    data = record.data(unit).head(24)
    with recorded_draws() as draws:
        fit(record, unit, _paid(options, unit, 0), data)
    monkeypatch.setattr(base, "_BLOCK_ROWS", 1)
    for draw, twin in told_the_same(case, data, draws=draws):
        np.testing.assert_array_equal(draw.exact, twin.exact)


def test_what_is_left_out_is_refused_before_anything_is_asked():
    estimated_bias = [case for case in ALL if refused(*case)]
    for record, unit, options in estimated_bias:
        record, data = made(record, unit, options)
        with recorded_draws() as draws, pytest.raises(ParameterError):
            fit(record, unit, options, data)
        assert not draws


def test_every_word_of_every_parameter_is_tried():
    tried = {
        (record.kind, name, word) for record, _, options in CASES for name, word in options.items()
    }
    for record in ESTIMATORS:
        for name, words in choices_of(record).items():
            assert {(record.kind, name, word) for word in words} <= tried
    assert {word for _, name, word in tried if name == "metric"} >= set(METRICS)


def test_rows_are_coarse():
    """Else there would be no ties, and nothing for an order to decide."""
    for record in ESTIMATORS:
        data = coarse(record.data(record.units[-1]))
        if isinstance(data, pd.DataFrame):
            assert data.drop(columns="who").duplicated().sum() > N_ROWS / 10, record.name
            assert (data["who"].value_counts() > 2).sum() > N_PEOPLE / 2
