"""Under ``Person`` every estimator sees at most so many rows of each person.

People who repeat one and the same row leave no doubt which rows count: everything exact that leaves
the door must be that of data in which each of them has as many rows as allowed.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

from privclust import (
    Person,
    PrivateBounds,
    PrivateKMeans,
)
from privclust.papers.zones.private import PrivateZoneKMeans
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.source_target.estimator import SourceTargetEstimator
from support.datasets import POINTS, SURVEY, places, points, survey
from support.transcripts import recorded_draws
from support.variants import dilca, medoids

COMMON = {"epsilon": 5.0, "random_state": 3}
PLANE = Schema({"x": Box(0, 10), "y": Box(0, 10)})


def answers():
    return survey().head(40).assign(who=np.arange(40))


def rows():
    return points().head(40).assign(who=np.arange(40))


def sources():
    return places()[1].head(40).assign(who=np.arange(40))


def fit(model, data):
    if isinstance(model, SourceTargetEstimator):
        return model.fit(pd.DataFrame(places()[0], columns=["x", "y"]), source=data)
    return model.fit(data)


MODELS = {
    **{
        f"kmeans {m}": (PrivateKMeans, {"method": m}, POINTS, rows)
        for m in ("cells", "cautious", "grid", "lloyd")
    },
    "zones": (PrivateZoneKMeans, {}, POINTS, rows),
    "bounds": (PrivateBounds, {"columns": ["x", "y", "z"]}, None, rows),
    **{
        f"dilca {m}": (dilca, {"method": m}, SURVEY, answers)
        for m in ("pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency")
    },
    "kmeans of categories": (PrivateKMeans, {"metric": "dilca"}, SURVEY, answers),
    **{
        f"source-target {m}": (medoids, {"method": m}, PLANE, sources)
        for m in ("rings", "nna", "nas")
    },
}


def exact_answers(kind, options, schema, unit, data):
    """Return all exact integers that a seeded fit gives to mechanisms, and what it releases."""
    sizes = {} if kind in (dilca, PrivateBounds) else {"n_clusters": 2}
    sizes = {"n_centers": 2} if kind == medoids else sizes
    declared = {} if schema is None else {"schema": schema}
    model = kind(unit=unit, **declared, **sizes, **options, **COMMON)
    with warnings.catch_warnings(), recorded_draws() as draws:
        warnings.simplefilter("ignore")
        fit(model, data)
    return [draw.exact.tolist() for draw in draws], model.release().arrays


@pytest.mark.parametrize("max_rows", [1, 3])
@pytest.mark.parametrize(("kind", "options", "schema", "made"), MODELS.values(), ids=MODELS)
def test_all_that_leaves_the_door_is_of_so_many_rows_of_each_person(
    kind, options, schema, made, max_rows
):
    once, unit = made(), Person("who", max_rows)
    allowed = pd.concat([once] * max_rows)
    crowded = pd.concat([once] * 5 + [once.head(3)] * 50)
    bounded, released = exact_answers(kind, options, schema, unit, crowded)
    expected, wanted = exact_answers(kind, options, schema, unit, allowed)
    assert bounded == expected
    assert len(bounded) > 0
    for name, array in wanted.items():
        np.testing.assert_array_equal(released[name], array)
