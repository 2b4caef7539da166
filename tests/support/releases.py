"""Releases as a fit would make them, for the tests of saving, loading and labelling."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.budget import Budget, Loss
from privclust.exceptions import ReleaseError
from privclust.privacy.meter import Meter
from privclust.release.release import Release
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement
from privclust.unit.rows import AddRemoveRow

NAMES = ("age", "income", "visits")
SCHEMA = Schema({"age": Box(0, 120), "income": Box(0, 1000), "visits": Box(0, 50, missing=5)})
CENTERS = np.array([[20.0, 100, 5], [60, 900, 10], [80, 200, 40], [41.5, 512.25, 20.125]])


def statement(
    epsilon=1, delta=0, *, private=True, unit=None, queries=("count", "sums", "sums, step 2")
) -> PrivacyStatement:
    """Return the statement of a fit that spent all of its budget."""
    budget = Budget(epsilon, delta)
    meter = Meter(budget)
    for query, share in zip(queries, budget.split([1] * len(queries)), strict=True):
        loss = Loss(None, share.amount) if delta else Loss.of_pure(share.amount)
        meter.charge(query, loss, f"noise of {query}")
    receipt = "receipt-42" if private else None
    return PrivacyStatement.from_meter(
        meter, unit=unit or AddRemoveRow(), private=private, receipt=receipt
    )


def make_release(centers=CENTERS, schema=SCHEMA, *, sizes=None, privacy=None, **changes) -> Release:
    """Return a k-means release as the estimator would make it."""
    centers = np.asarray(centers, dtype=np.float64)
    k = len(centers)
    arrays = {
        "cluster_centers": centers,
        "cluster_sizes": np.arange(k) * 100 + 50 if sizes is None else np.asarray(sizes),
        "cluster_sizes_error": np.full(k, 7.5),
    }
    fields = {
        "kind": "kmeans",
        "arrays": arrays,
        "schema": schema,
        "parameters": {"n_clusters": k, "rescale": False, "method": "lloyd"},
        "privacy": privacy or statement(),
        "created": "2025-11-15",
    }
    return Release(**(fields | changes))


def rows(n=500, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 1, (n, 3)) * (SCHEMA.high - SCHEMA.low)


def brute_force(X, centers=CENTERS, scales=1.0) -> list[int]:
    return [int(np.argmin([np.sum(((x - c) / scales) ** 2) for c in centers])) for x in X]


def as_one_sentence(error: pytest.ExceptionInfo, *parts: str) -> None:
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "; " in text or "upgrade" in text
    for part in parts:
        assert part in text


def outcome(call, *arguments, **keywords):
    """Return what a call returns, or the sentence it raises."""
    try:
        return call(*arguments, **keywords)
    except ReleaseError as error:
        return str(error)
