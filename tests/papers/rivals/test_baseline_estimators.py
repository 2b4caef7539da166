"""Where noise is small the baselines do what their papers say; they say that they are baselines."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from privclust.exceptions import ParameterError, SchemaError
from privclust.papers import rivals as baselines
from privclust.papers.datasets.points import clumps
from privclust.papers.metrics import inertia
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans
from privclust.papers.rivals.nmf import PrivateNMF
from privclust.papers.rivals.one_hot import PrivateOneHotKMeans
from privclust.papers.rivals.wgan import PrivateWGAN
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema

RICH = {"epsilon": 10_000.0, "random_state": 1}


def fitted(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


@pytest.mark.parametrize("name", baselines.__all__)
def test_a_baseline_says_what_it_is(name):
    words = " ".join((getattr(baselines, name).__doc__ or "").split())
    assert "a baseline" in words
    assert "NOT RECOMMENDED" in words
    assert "better" in words


@pytest.mark.parametrize("dimension", [2, 30])
def test_local_search_finds_clumps_in_few_and_in_many_dimensions(dimension):
    rows = clumps(2000, dimension, 4, seed=3)
    model = fitted(PrivateHighDimKMeans(4, bounds=(-1, 1), **RICH), rows)
    alone = inertia(rows, rows.mean(axis=0)[None, :])
    assert inertia(rows, model.cluster_centers_) < 0.2 * alone


def test_a_factorisation_finds_the_parts_that_rows_are_made_of():
    rng = np.random.default_rng(0)
    parts = np.kron(np.eye(3), np.ones(4)) / 2
    kind = rng.integers(3, size=900)
    rows = parts[kind] * rng.uniform(0.5, 1, (900, 1))
    model = PrivateNMF(3, n_steps=6, radius=1.0, bounds=(0, 1), delta=1e-6, **RICH)
    model = fitted(model, rows)
    agreement = model.components_ @ parts.T
    assert sorted(agreement.argmax(axis=1)) == [0, 1, 2]
    assert (agreement.max(axis=1) > 0.98).all()
    order = agreement.argmax(axis=1)
    assert (order[model.loadings(rows).argmax(axis=1)] == kind).all()
    assert (order[model.predict(rows)] == kind).all()


def test_a_factorisation_refuses_what_may_be_negative_before_anything_is_read():
    with pytest.raises(SchemaError, match="at least zero"):
        PrivateNMF(2, bounds=(-1, 1)).fit(np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="radius"):
        PrivateNMF(2, bounds=(0, 1), radius=0).fit(np.zeros((3, 2)))


def test_one_hot_rows_are_as_far_apart_as_they_have_mismatches():
    schema = Schema({name: Categories(["x", "y", "z"]) for name in "abc"})
    rows = pd.DataFrame({"a": ["x", "x", "z"], "b": ["x", "y", "z"], "c": ["x", "x", "z"]})
    model = fitted(PrivateOneHotKMeans(2, schema=schema, **RICH), pd.concat([rows] * 50))
    square = model.pairwise_distances(rows) ** 2
    np.testing.assert_allclose(square, [[0, 1, 3], [1, 0, 3], [3, 3, 0]], atol=1e-9)


@pytest.mark.parametrize("method", ["lloyd", "cells"])
def test_one_hot_clusters_tell_two_kinds_of_rows_apart(method):
    rng = np.random.default_rng(2)
    kind = rng.integers(2, size=1000)
    rows = pd.DataFrame({f"c{i}": np.where(rng.random(1000) < 0.1, 2, kind) for i in range(5)})
    model = PrivateOneHotKMeans(2, method=method, schema=Categories([0, 1, 2]), **RICH)
    labels = fitted(model, rows).predict(rows)
    assert max((labels == kind).mean(), (labels != kind).mean()) > 0.95


def test_generated_rows_lie_where_the_rows_do():
    rng = np.random.default_rng(5)
    rows = rng.normal([0.4, -0.3], 0.1, (1500, 2)).clip(-1, 1)
    model = fitted(PrivateWGAN(3, n_steps=40, bounds=(-1, 1), delta=1e-6, **RICH), rows)
    made = model.sample(2000, seed=0)
    # A generator that learned nothing stands around the origin, at a distance of one half.
    assert np.linalg.norm(made.mean(axis=0) - rows.mean(axis=0)) < 0.15
    assert (np.abs(made) <= 1).all()
    assert (made == model.sample(2000, seed=0)).all()
