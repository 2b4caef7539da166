"""The short form of a schema: one fact that holds for every column, as in coded survey answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privclust import Bins, Box, Categories, Person, Schema
from privclust.exceptions import DataError, SchemaError
from privclust.papers.dilca.published import Dilca
from support.variants import categorical_kmeans, dilca

SCALE = Categories([1, 2, 3, 4, 5], missing="category")
NAMES = ["q1", "q2", "q3"]


def answers(n_rows=200):
    """Answers from 1 to 5; the second repeats the first, the third is missing now and then."""
    rng = np.random.default_rng(0)
    first, third = rng.integers(1, 6, (2, n_rows)).astype(float)
    third[::10] = np.nan
    return np.column_stack([first, first, third])


ROWS = answers()
FRAME = pd.DataFrame(ROWS, columns=NAMES)


@pytest.mark.parametrize(
    "model",
    [
        dilca(epsilon=5, random_state=0),
        categorical_kmeans(2, method="max-relevance", epsilon=5, random_state=0),
        Dilca("max-relevance"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_fact_stands_for_the_schema_that_says_it_of_every_column(model):
    whole = Schema(dict.fromkeys(NAMES, SCALE))
    long = model.set_params(schema=whole).fit(FRAME).transform(FRAME)
    short = model.set_params(schema=SCALE).fit(FRAME)
    assert short.schema_ == whole
    assert short.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(short.transform(FRAME), long)
    np.testing.assert_array_equal(short.fit(ROWS).transform(ROWS), long)
    assert short.n_features_in_ == 3
    assert not hasattr(short, "feature_names_in_")


def test_what_is_asked_by_name_is_found_by_name():
    model = dilca(schema=SCALE, targets=["q2"], epsilon=1e6, random_state=0).fit(FRAME)
    assert list(model.contexts_) == ["q2"]
    assert model.distance_matrix("q2", as_frame=True).columns.tolist() == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "(missing)",
    ]
    numbered = dilca(schema=SCALE, targets=["x1"], random_state=0).fit(ROWS)
    assert list(numbered.contexts_) == ["x1"]


def test_the_column_that_names_a_person_is_not_declared():
    rows = FRAME.assign(id=np.arange(len(FRAME)) // 2)
    model = dilca(schema=SCALE, unit=Person("id", max_rows=2)).fit(rows)
    assert model.schema_.names == tuple(NAMES)
    assert model.transform(rows).shape == model.transform(FRAME).shape


def test_new_rows_need_the_columns_of_the_fit():
    model = dilca(schema=SCALE).fit(ROWS)
    with pytest.raises(ValueError, match="X has 2 features, but PrivateDilca is expecting 3"):
        model.transform(ROWS[:, :2])
    with pytest.raises(DataError, match="have 2 columns but the schema declares 3"):
        model.transform(ROWS[:, :2].tolist())
    with pytest.warns(UserWarning, match="fitted without feature names"):
        named = model.transform(FRAME)
    np.testing.assert_array_equal(named, model.transform(ROWS))


def test_infinite_numbers_fall_into_the_outermost_bins():
    model = dilca(schema=Bins([0, 2, 4, 6])).fit(np.where(np.isnan(ROWS), 0, ROWS))
    points = model.transform([[np.inf, 5.0, -np.inf], [5.0, 5.0, 1.0]])
    np.testing.assert_array_equal(points[0], points[1])


def test_a_plan_asks_for_the_number_of_columns():
    model = dilca(schema=SCALE)
    with pytest.raises(SchemaError, match="give n_features"):
        model.plan()
    named = dilca(schema=Schema(dict.fromkeys(NAMES, SCALE)))
    assert str(model.plan(500, n_features=3)) == str(named.plan(500))


@pytest.mark.parametrize(
    ("fact", "said"),
    [(Box(0, 5), "'q1' is declared as numbers"), (None, "No categories are declared")],
)
def test_a_fact_that_is_not_about_categories_is_refused(fact, said):
    with pytest.raises(SchemaError, match=said):
        dilca(schema=fact).fit(FRAME)
