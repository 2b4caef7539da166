"""Where noise hides the clusters, a fit says what would help and by how much, without data."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from privclust import (
    Box,
    PrivateDensity,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSummary,
    Schema,
)
from privclust.clustering import remedies
from privclust.exceptions import LowSignalWarning

SCHEMA = Schema({f"c{i}": Box(0, 1) for i in range(30)})
ROWS = np.random.default_rng(0).uniform(0, 1, (569, 30))
pytestmark = pytest.mark.filterwarnings("default::privclust.exceptions.LowSignalWarning")


def told(model, rows=ROWS):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LowSignalWarning)
        model.fit(rows)
    return [str(each.message) for each in caught]


@pytest.fixture
def plans(monkeypatch):
    """Count the rehearsals, and the rows they were told of."""
    made = []
    plan = PrivateKMeans.plan

    def counted(self, n_rows, *columns, **options):
        made.append(n_rows)
        return plan(self, n_rows, *columns, **options)

    monkeypatch.setattr(PrivateKMeans, "plan", counted)
    return made


def test_a_hidden_fit_says_what_plan_says_of_a_delta_and_a_larger_epsilon():
    model = PrivateKMeans(2, epsilon=0.5, schema=SCHEMA, random_state=1)
    *_, last = told(model)
    n_rows = int(re.search(r"about ([\d,]+) rows", last)[1].replace(",", ""))
    assert n_rows == round(model.cluster_sizes_.sum())
    changed = {"": {}, "δ = 1e-06": {"delta": 1e-6}, "ε = 2": {"epsilon": 2}}
    for words, change in changed.items():
        again = PrivateKMeans(2, **{"epsilon": 0.5, "schema": SCHEMA, **change}).plan(n_rows)
        said = f"{again.error_ratio:.3g} times" + (f" with {words}" if words else "")
        assert said in last
    assert "15 of the 30 columns" in last
    assert last.endswith(".")


def test_advice_is_neither_in_the_release_nor_among_the_notes():
    model = PrivateKMeans(2, epsilon=0.5, schema=SCHEMA, random_state=1)
    *_, last = told(model)
    assert last not in model.warnings_
    assert last not in model.release().parameters["warnings"]


def test_a_summary_has_advice_too():
    *_, last = told(PrivateSummary(epsilon=0.5, schema=SCHEMA, random_state=1))
    assert last.startswith("Rehearsed without data for about ")
    assert " times with ε = " in last


def test_a_mixture_says_what_fewer_components_and_a_delta_would_bring():
    schema = SCHEMA.only([f"c{i}" for i in range(6)])
    model = PrivateGaussianMixture(4, epsilon=0.3, schema=schema, random_state=1)
    rows = np.random.default_rng(1).uniform(0, 1, (3000, 6))
    *_, last = told(model, rows)
    n_rows = int(re.search(r"about ([\d,]+) rows", last)[1].replace(",", ""))
    again = PrivateGaussianMixture(4, epsilon=0.3, delta=1e-6, schema=schema).plan(n_rows)
    assert f"perplexity of a row is {model.plan(n_rows).error_ratio:.3g} times" in last
    assert f"{again.error_ratio:.3g} times with δ = 1e-06" in last
    assert "3 of the 6 columns" in last


def test_a_density_says_what_a_larger_epsilon_and_fewer_columns_would_bring():
    schema = SCHEMA.only(["c0", "c1", "c2"])
    model = PrivateDensity(epsilon=0.1, schema=schema, random_state=1)
    *_, last = told(model, np.random.default_rng(1).uniform(0, 1, (1400, 3)))
    n_rows = int(re.search(r"about ([\d,]+) rows", last)[1].replace(",", ""))
    one = PrivateDensity(epsilon=0.1, schema=SCHEMA.only(["c0"])).plan(n_rows)
    assert f"loss of agreement is {model.plan(n_rows).error_ratio:.2g} (1 − adjusted" in last
    assert f"{one.error_ratio:.2g} with 1 of the 3 columns" in last
    assert " times" not in last
    *_, last = told(PrivateDensity(epsilon=0.01, schema=schema, random_state=1), ROWS[:50, :3])
    assert last == "Noise hides even the number of rows; raise ε."


def test_far_too_many_clusters_are_told_by_their_number():
    few = np.random.default_rng(0).uniform(0, 1, (40, 30))
    *_, last = told(PrivateKMeans(20, epsilon=20, schema=SCHEMA, random_state=2), few)
    assert re.fullmatch(r"There are only about \d+ rows for 20 clusters; ask for far fewer.", last)
    *_, last = told(PrivateKMeans(50, schema=SCHEMA, random_state=2), few[:10])
    assert last.startswith("Noise hides even the number of rows; ask for far fewer clusters")


def test_nothing_is_rehearsed_for_a_fit_that_sees_its_clusters_or_a_warning_that_is_ignored(plans):
    clear = np.repeat([[0.2], [0.8]], 30_000, axis=0)
    assert not told(PrivateKMeans(2, schema=Schema({"x": Box(0, 1)}), random_state=0), clear)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowSignalWarning)
        PrivateKMeans(2, epsilon=0.5, schema=SCHEMA, random_state=1).fit(ROWS)
    assert plans == []


def test_a_large_table_is_not_rehearsed_unasked(plans, monkeypatch):
    monkeypatch.setattr(remedies, "_MOST_NUMBERS", 1000)
    assert not any("Rehearsed" in each for each in told(PrivateKMeans(2, schema=SCHEMA)))
    assert plans == []


def test_clear_clumps_that_would_be_found_suggest_fewer_clusters(monkeypatch):
    model = PrivateKMeans(2, epsilon=0.5, schema=SCHEMA, random_state=1)
    monkeypatch.setattr(remedies, "clone", lambda _: pytest.fail("nothing else is needed"))
    found = PrivateKMeans(2, epsilon=50, schema=SCHEMA).plan(600)
    monkeypatch.setattr(PrivateKMeans, "plan", lambda *_: found)
    *_, last = told(model)
    assert last.endswith("the rows may have fewer, so ask for fewer.")
