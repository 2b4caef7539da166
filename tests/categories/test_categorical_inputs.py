"""Bad and unusual input: the right result or one clear sentence; all frames give one code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privclust import Bins, Box, Categories, Schema
from privclust.exceptions import DataError, SchemaError
from privclust.holder.answers import OwnTable
from privclust.opening.rows import open_table
from privclust.schema.coerce import schema_from_dtypes
from support.survey import SCHEMA, survey
from support.variants import categorical_kmeans, dilca

ROWS = survey(300)


def codes_of(rows, schema=SCHEMA):
    with open_table(rows, schema) as opened:
        return OwnTable(opened).codes()


def sentence_of(error):
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


FRAMES = {
    "pandas": lambda f: f,
    "pandas categorical": lambda f: f.astype(
        {"city": pd.CategoricalDtype(list("DCBAXYZ")), "sex": "category"}
    ),
    "pandas nullable": lambda f: f.astype({"income": "Int32", "car": "boolean", "sex": "string"}),
    "pandas object": lambda f: f.astype(object),
    "pandas small integers": lambda f: f.astype({"income": np.int8}),
    "polars": pl.from_pandas,
    "polars categorical": lambda f: pl.from_pandas(f).with_columns(
        pl.col("city").cast(pl.Categorical), pl.col("sex").cast(pl.Enum(["m", "f"]))
    ),
    "polars lazy": lambda f: pl.from_pandas(f).lazy(),
    "arrow": lambda f: pl.from_pandas(f).to_arrow(),
    "array": lambda f: f.to_numpy(),
    "other order": lambda f: f[["sex", "car", "city", "income"]],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_codes(kind):
    np.testing.assert_array_equal(codes_of(FRAMES[kind](ROWS)), codes_of(ROWS))


def test_files_give_the_same_codes(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    pl.from_pandas(ROWS).write_parquet(tmp_path / "rows.parquet")
    for name in ("rows.csv", "rows.parquet"):
        np.testing.assert_array_equal(codes_of(tmp_path / name), codes_of(ROWS))


def test_codes_follow_the_declared_list_and_nothing_else():
    assert codes_of(ROWS.head(1))[0, 0] == "ABCD".index(ROWS["city"][0])
    reversed_city = Schema({**SCHEMA.columns, "city": Categories(list("DCBA"))})
    np.testing.assert_array_equal(codes_of(ROWS, reversed_city)[:, 0], 3 - codes_of(ROWS)[:, 0])


def test_missing_and_unknown_values_are_categories_where_declared():
    odd = ROWS.assign(sex=["f", None, "x"] * 100)
    np.testing.assert_array_equal(codes_of(odd)[:3, 3], [0, 2, 3])
    coded = odd.assign(sex=odd["sex"].astype("category"))
    np.testing.assert_array_equal(codes_of(coded)[:3, 3], [0, 2, 3])


@pytest.mark.parametrize("value", ["X", None])
def test_missing_and_unknown_values_are_errors_where_not_declared(value):
    odd = ROWS.assign(city=[value, *ROWS["city"][1:]])
    with pytest.raises(DataError) as error:
        dilca(schema=SCHEMA).fit(odd)
    text = sentence_of(error)
    assert "'city'" in text
    assert "X" not in text  # no value of a row in a message


def test_unused_words_of_a_dictionary_are_no_error():
    wide = ROWS.assign(city=ROWS["city"].astype(pd.CategoricalDtype([*"ABCD", "never"])))
    np.testing.assert_array_equal(codes_of(wide), codes_of(ROWS))


def test_bins_take_their_lower_edge_and_hold_what_lies_beyond():
    schema = Schema({"age": Bins([0, 10, 20], missing="category"), "sex": Categories(["f"])})
    ages = [-5.0, 0.0, 9.9, 10.0, 20.0, 99.0, None]
    rows = pd.DataFrame({"age": ages, "sex": ["f"] * len(ages)})
    np.testing.assert_array_equal(codes_of(rows, schema)[:, 0], [0, 0, 0, 1, 1, 1, 2])


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (None, "No categories are declared"),
        (Schema({"city": Categories(["A"])}), "at least two"),
        (Schema({**SCHEMA.columns, "income": Box(0, 2)}), "'income' is declared as numbers"),
        (
            Schema({"a": Categories(list(range(9000))), "b": Categories(list(range(9000)))}),
            "group rare values",
        ),
    ],
)
def test_schemas_that_cannot_serve_are_refused_in_one_sentence(schema, said):
    rows = ROWS if schema is None or len(schema) != 2 else np.zeros((5, 2), int)
    with pytest.raises(SchemaError) as error:
        dilca(schema=schema).fit(rows)
    assert said in sentence_of(error)


def test_undeclared_columns_and_empty_tables_are_refused_in_one_sentence():
    with pytest.raises(DataError) as error:
        dilca(schema=SCHEMA).fit(ROWS.assign(name="x"))
    assert "'name' is in the data but not declared" in sentence_of(error)
    with pytest.raises(DataError) as error:
        dilca(schema=SCHEMA).fit(ROWS.head(0))
    assert "no rows" in sentence_of(error)


@pytest.mark.parametrize("method", ["pairs", "tree", "mean-su", "max-dependency", "baseline"])
def test_constant_columns_and_one_value_attributes_are_harmless(method):
    schema = Schema({**SCHEMA.columns, "one": Categories(["x"]), "same": Categories(["a", "b"])})
    rows = ROWS.assign(one="x", same="a")
    model = dilca(schema=schema, method=method, context_size=2).fit(rows)
    assert model.distance_matrix("one").tolist() == [[0]]
    assert np.isfinite(model.transform(rows)).all()
    categorical_kmeans(2, schema=schema).fit(rows)


def test_one_row_is_enough():
    for method in ("pairs", "tree", "mean-su", "max-relevance", "max-dependency", "baseline"):
        model = dilca(schema=SCHEMA, method=method).fit(ROWS.head(1))
        assert np.isfinite(model.transform(ROWS)).all()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"context_rule": "best"}, "context_rule must be one of"),
        ({"context_size": 0}, "context_size must be"),
        ({"method": "mean-su", "selection_share": 1}, "selection_share must be"),
        ({"targets": ["name"]}, "'name' is not a declared column"),
        ({"targets": []}, "targets is empty"),
        ({"epsilon": 0}, "epsilon must be above zero"),
        ({"unit": "matrix-row"}, "does not apply to a table of rows"),
    ],
)
def test_wrong_parameters_are_told(parameters, said):
    with pytest.raises(ValueError, match=said):
        dilca(**{"schema": SCHEMA, **parameters}).fit(ROWS)


class ChargedError(Exception):
    pass


class ForbiddenLedger:
    """A ledger that must not be charged."""

    def reserve(self, *_, **__):
        raise ChargedError

    def settle(self, *_, **__):
        raise ChargedError


@pytest.mark.parametrize(
    ("schema", "method"),
    [
        (Schema({f"a{i}": Categories([0, 1]) for i in range(120)}), "max-dependency"),
        (Schema({f"a{i}": Categories(list(range(6000))) for i in range(2)}), "pairs"),
        (None, "pairs"),
    ],
)
def test_what_the_schema_forbids_is_refused_before_the_ledger_is_charged(schema, method):
    ledger = ForbiddenLedger()
    width = 4 if schema is None else len(schema)
    model = dilca(schema=schema, method=method, ledger=ledger, dataset="d")
    with pytest.raises(ValueError, match=r"\."):
        model.fit(np.zeros((4, width), int))


def test_the_ledger_is_charged_before_any_row_is_read():
    model = dilca(schema=SCHEMA, ledger=ForbiddenLedger(), dataset="d")
    with pytest.raises(ChargedError):
        model.fit(ROWS.assign(city="not a city"))


def test_too_many_subsets_are_refused_before_they_are_counted():
    wide = Schema({f"a{i}": Categories([0, 1]) for i in range(120)})
    with pytest.raises(ValueError, match="smaller context"):
        dilca(schema=wide, method="max-dependency").fit(np.zeros((4, 120), int))


def test_types_of_a_frame_can_be_the_declaration():
    typed = pd.DataFrame(
        {"city": pd.Categorical(["A"], categories=["A", "B"]), "car": pd.Series([True])}
    )
    schema = schema_from_dtypes(typed)
    assert schema["city"].values == ("A", "B")
    assert schema["car"].values == (False, True)
    enum = pl.DataFrame({"city": pl.Series(["A"], dtype=pl.Enum(["A", "B"]))})
    assert schema_from_dtypes(enum)["city"] == schema["city"]
    with pytest.raises(SchemaError, match="'name' lists no categories"):
        schema_from_dtypes(pd.DataFrame({"name": ["x"]}))
    with pytest.raises(SchemaError, match="'name' lists no categories"):
        schema_from_dtypes(pl.DataFrame({"name": pl.Series(["x"], dtype=pl.Categorical)}))
