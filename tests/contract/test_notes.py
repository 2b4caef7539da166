"""Every estimator is asked for the same notes, and what a release shows never hangs on prose."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privclust
from privclust import Box, Ledger, Schema
from privclust.clustering.answers import Summary
from privclust.exceptions import LowSignalWarning, ReleaseError
from privclust.release.kinds import get_kind
from privclust.unit.matrix import MatrixRow
from support.datasets import SURVEY
from support.estimators import ESTIMATORS, EstimatorRecord
from support.releases import make_release

SOURCE = Path(privclust.__file__).parent
NAMED = {record.name: record for record in ESTIMATORS}
every_estimator = pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
every_method = pytest.mark.parametrize(
    ("record", "unit", "method"),
    [
        pytest.param(record, unit, method, id=f"{record.name}-{unit.name}-{method or 'only'}")
        for record in ESTIMATORS
        for number, unit in enumerate(record.units)
        for method in (record.methods if number == 0 else ()) or (None,)
    ],
)


def fitted(record: EstimatorRecord, model: Any, data: Any) -> tuple[Any, list[str]]:
    """Return the fitted model, and what it warned of for want of signal."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if record.public_data is None:
            model.fit(data)
        else:
            model.fit(record.public_data(), source=data)
    return model, [str(w.message) for w in caught if w.category is LowSignalWarning]


def notes(model: Any) -> list[str]:
    return list(model.release().parameters.get("notes", []))


@every_method
@pytest.mark.parametrize(("delta", "times"), [(0.2, 1), (1e-9, 0), (0, 0)])
def test_every_estimator_warns_of_a_delta_above_one_in_the_number(
    record, unit, method, delta, times
):
    if isinstance(unit, MatrixRow) and not delta:
        pytest.skip("whole rows of a matrix need a delta")
    chosen = {} if method is None else {"method": method}
    model = record.make(unit, epsilon=5, delta=delta, random_state=0, **chosen)
    model, told = fitted(record, model, record.data(unit))
    assert notes(model).count("delta-large") == times
    assert sum(text.startswith("δ is above one in the number of") for text in told) == times
    assert tuple(told) == model.warnings_ == tuple(model.release().parameters.get("warnings", ()))


# A learned metric puts numbers into bins, whose middles never lie at a bound.
BOUNDED = [
    NAMED[name]
    for name in (
        "PrivateKMeans",
        "PrivateKMeans-auto",
        "PrivateKMeans-mixed",
        "PrivateZoneKMeans",
        "PrivateSummary",
        "PrivateSummary-mixed",
        "PrivateSourceTargetMedoids",
    )
]


@pytest.mark.parametrize("record", BOUNDED, ids=lambda record: record.name)
@pytest.mark.parametrize("beyond", [True, False])
def test_every_estimator_with_bounds_warns_of_rows_beyond_them(record, beyond):
    columns = dict(record.parameters["schema"].columns)
    for name, fact in columns.items():
        if beyond and isinstance(fact, Box) and fact.form == "number":
            columns[name] = Box(fact.low - 900, fact.low - 899)
    model = record.make(epsilon=50, schema=Schema(columns), random_state=0)
    found = notes(fitted(record, model, record.data())[0])
    assert bool({"bound-reached", "rows-outside"} & set(found)) == beyond


def independent() -> pd.DataFrame:
    """Return rows whose columns do not depend on each other, of the categories of the survey."""
    rng = np.random.default_rng(0)
    answers = {"drink": ["tea", "milk", "water"], "town": ["north", "south", "west"]}
    answers |= {"pet": ["cat", "dog"], "age": [20, 40, 60, 80]}
    return pd.DataFrame({name: rng.choice(values, 20_000) for name, values in answers.items()})


@pytest.mark.parametrize("name", ["PrivateKMeans-categories", "PrivateSummary", "PrivateDilca"])
def test_every_estimator_that_learns_a_metric_warns_of_independent_columns(name):
    record = NAMED[name]
    learns = {"metric": "dilca"} if name == "PrivateSummary" else {}
    model = record.make(schema=SURVEY, epsilon=5, delta=1e-6, random_state=0, **learns)
    model, told = fitted(record, model, independent())
    assert sum("The columns seem to be independent" in text for text in told) == 1
    assert model.release().signal == "seen"


@every_estimator
def test_a_further_sentence_changes_nothing_that_is_shown(record):
    release = record.seeded().release()
    given = release.parameters
    more = {
        "notes": [*given.get("notes", []), "delta-large"],
        "warnings": [*given.get("warnings", []), "These centres never saw the rows."],
    }
    other = replace(release, parameters={**given, **more})
    assert given["signal"] == release.signal == other.signal
    kind = get_kind(release.kind)
    shown, changed = kind.context_of(release), kind.context_of(other)
    assert {k: v for k, v in shown.items() if k != "clusters"} == {
        k: v for k, v in changed.items() if k != "clusters"
    }
    assert kind.facts(release).listings == kind.facts(other).listings


def test_a_summary_with_a_large_delta_still_chooses_a_number_of_clusters():
    clear = NAMED["PrivateSummary"].seeded(epsilon=5, delta=1e-9)
    doubted = NAMED["PrivateSummary"].seeded(epsilon=5, delta=0.2)
    assert notes(doubted) == ["delta-large"]
    assert clear.choose_k().n_clusters == doubted.choose_k().n_clusters is not None


@pytest.mark.parametrize(
    ("name", "epsilon", "signal"),
    [
        ("PrivateKMeans", 0.01, "none"),
        ("PrivateKMeans", 0.003, "hidden"),
        ("PrivateKMeans", 50, "seen"),
        ("PrivateSummary", 0.01, "none"),
        ("PrivateSummary", 0.003, "hidden"),
        ("PrivateSummary", 50, "seen"),
        ("PrivateKMeans-categories", 0.003, "none"),
        ("PrivateKMeans-categories", 0.01, "hidden"),
        ("PrivateKMeans-categories", 50, "seen"),
    ],
)
def test_the_signal_follows_the_budget(name, epsilon, signal):
    method = {"method": "cells"} if name.startswith("PrivateKMeans") else {}
    release = NAMED[name].seeded(epsilon=epsilon, **method).release()
    assert release.signal == release.parameters["signal"] == signal
    assert any("never saw the rows" in text for text in release.parameters.get("warnings", [])) == (
        signal == "none"
    )


# Releases of 0.1 and 0.2, which have no field.
UNSEEN = "At this budget even the mean would be noise, so the centres never saw the rows; raise it."
MISSED = (
    "Some rows seem to lie farther from the cells than distances were clipped to, so that the "
    "inertia is too small; compare numbers of clusters by it, and raise epsilon or declare closer "
    "bounds before you quote it."
)


@pytest.mark.parametrize(
    ("kind", "told", "signal"),
    [
        ("kmeans", [], "seen"),
        ("kmeans", ["Noise hides some of the clusters at this budget."], "seen"),
        ("kmeans", [UNSEEN], "none"),
        ("summary", [MISSED], "seen"),
        ("summary", ["Noise hides nearly all cells at this budget."], "hidden"),
        ("summary", [MISSED, "Noise hides nearly all cells at this budget."], "hidden"),
        ("summary", [UNSEEN], "none"),
    ],
)
def test_releases_without_a_signal_are_read_by_their_words(kind, told, signal):
    summary = NAMED["PrivateSummary"].seeded().release()
    release = summary if kind == "summary" else make_release()
    fields = ("signal", "notes", "warnings")
    others = {name: v for name, v in release.parameters.items() if name not in fields}
    old = replace(release, parameters={**others, **({"warnings": told} if told else {})})
    assert old.signal == signal
    if kind == "summary":
        made = Summary(old).kmeans(3).parameters
        assert made.get("warnings", []) == [text for text in told if text != MISSED]
        assert "signal" not in made


def test_a_summary_hands_on_its_notes_but_for_the_one_about_its_inertia():
    release = NAMED["PrivateSummary"].seeded().release()
    both = {"notes": ["far-rows-missed", "delta-large"], "warnings": [MISSED, "δ is large."]}
    given = replace(release, parameters={**release.parameters, **both})
    made = Summary(given).kmeans(3).parameters
    assert (made["signal"], made["notes"], made["warnings"]) == (
        "seen", ["delta-large"], ["δ is large."],
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"signal": "loud"}, {"signal": "seen", "notes": ["k-unclear"]},
              {"signal": "seen", "notes": 3}]
)  # fmt: skip
def test_a_release_with_a_signal_or_notes_that_mean_nothing_is_refused(wrong):
    release = make_release()
    with pytest.raises(ReleaseError, match=r"signal|one warning for each"):
        replace(release, parameters={**release.parameters, **wrong})


def test_warnings_are_read_where_they_are_shown_and_nowhere_else():
    readers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            key = None
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                key = node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                key = node.args[0] if node.func.attr == "get" and node.args else None
            if isinstance(key, ast.Constant) and key.value == "warnings":
                readers.add(path.relative_to(SOURCE).as_posix())
    assert readers == {"release/signal.py", "reports/page.py", "service/web/browse.py"}


@every_estimator
@pytest.mark.parametrize("charged", [True, False])
def test_a_rehearsal_knows_whether_the_fit_will_be_charged(record, charged, tmp_path, monkeypatch):
    seen, ask = [], record.kind._ask

    def spy(self: Any, door: Any, run: Any, public: Any = None) -> Any:
        seen.append(run.charged)
        return ask(self, door, run, public)

    monkeypatch.setattr(record.kind, "_ask", spy)
    ledger = Ledger.open(tmp_path / "budget.db") if charged else None
    record.make(ledger=ledger, dataset="rows").plan(n_rows=300)
    assert set(seen) == {charged}
