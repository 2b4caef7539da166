"""A release labels rows from any source alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy import sparse

from privclust.exceptions import ReleaseError
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from support.releases import (
    NAMES,
    SCHEMA,
    as_one_sentence,
    brute_force,
    make_release,
    rows,
)


def saved(X, path: Path) -> Path:
    table = pa.table({"id": np.arange(len(X)), **dict(zip(NAMES, X.T, strict=True))})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=100)
    elif path.suffix == ".tsv":
        pl.DataFrame(table).write_csv(path, separator="\t")
    else:
        pa.csv.write_csv(table, path)
    return path


FORMS = {
    "numpy": lambda X, tmp: X,
    "fortran": lambda X, tmp: np.asfortranarray(X),
    "list": lambda X, tmp: X.tolist(),
    "object": lambda X, tmp: X.astype(object),
    "sparse": lambda X, tmp: sparse.csr_array(X),
    "pandas": lambda X, tmp: pd.DataFrame(X[:, ::-1], columns=NAMES[::-1]).assign(other="text"),
    "pandas, numbered": lambda X, tmp: pd.DataFrame(X),
    "pandas, nullable": lambda X, tmp: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda X, tmp: pl.DataFrame(X, schema=NAMES).with_columns(other=pl.lit("text")),
    "polars, lazy": lambda X, tmp: pl.LazyFrame(X, schema=NAMES),
    "table": lambda X, tmp: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "batch": lambda X, tmp: pa.record_batch(dict(zip(NAMES, X.T, strict=True))),
    "reader": lambda X, tmp: pa.table(dict(zip(NAMES, X.T, strict=True))).to_reader(50),
    "csv": lambda X, tmp: saved(X, tmp / "rows.csv"),
    "csv as text": lambda X, tmp: str(saved(X, tmp / "rows.csv")),
    "tsv": lambda X, tmp: saved(X, tmp / "rows.tsv"),
    "parquet": lambda X, tmp: saved(X, tmp / "rows.parquet"),
}


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_labels_are_the_nearest_centres_whatever_holds_the_rows(tmp_path, form, rescale):
    X = rows()
    release = make_release(parameters={"n_clusters": 4, "rescale": rescale})
    labels = release.predict(FORMS[form](X, tmp_path))
    assert isinstance(labels, np.ndarray)
    assert labels.dtype.kind == "i"
    expected = brute_force(X, scales=SCHEMA.high - SCHEMA.low if rescale else 1.0)
    assert labels.tolist() == expected


def test_the_metric_matters():
    X = rows()
    plain = make_release().predict(X)
    assert (plain != make_release(parameters={"rescale": True}).predict(X)).any()


def test_a_large_offset_costs_no_digits():
    schema = Schema({"seconds": Box(1.7e9, 1.7e9 + 1)})
    release = make_release([[1.7e9 + 0.25], [1.7e9 + 0.75]], schema)
    X = 1.7e9 + np.linspace(0, 1, 41)[:, None]
    assert release.predict(X).tolist() == brute_force(X, release.arrays["cluster_centers"])


def test_many_rows_are_read_in_parts(tmp_path, monkeypatch):
    from privclust.data import rows as base

    monkeypatch.setattr(base, "_BLOCK_ROWS", 7)
    X = rows(100)
    for form in FORMS:
        assert make_release().predict(FORMS[form](X, tmp_path)).tolist() == brute_force(X)


MISSING = {
    "numpy": lambda X: X,
    "masked": lambda X: np.ma.masked_invalid(X),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES, nan_to_null=True),
    "arrow": lambda X: pa.table({n: pa.array(x, mask=np.isnan(x)) for n, x in zip(NAMES, X.T)}),  # noqa: B905
}


@pytest.mark.parametrize("form", MISSING)
def test_missing_values_follow_the_rule_of_the_schema(form):
    X = rows()
    X[::3, 2] = np.nan
    filled = np.where(np.isnan(X), 5.0, X)
    assert make_release().predict(MISSING[form](X)).tolist() == brute_force(filled)
    X[7, 0] = np.nan
    with pytest.raises(ValueError, match="missing numbers") as error:
        make_release().predict(MISSING[form](X))
    as_one_sentence(error, "'age'", "leave those rows out")


def test_missing_fields_of_a_csv_file(tmp_path):
    (tmp_path / "rows.csv").write_text("age,income,visits\n20, 100 ,\n60,900,NA\n")
    assert make_release().predict(tmp_path / "rows.csv").tolist() == [0, 1]


FRAME = pd.DataFrame(rows(3), columns=NAMES)
TWICE = pd.DataFrame(np.zeros((2, 4)), columns=["age", "income", "visits", "age"])
BAD_ROWS = {
    "one column less": (np.zeros((2, 2)), "2 columns"),
    "one-dimensional": (np.zeros(3), "2-d array"),
    "ragged": ([[1, 2, 3], [4, 5]], "differ in length"),
    "infinite": (np.array([[1, np.inf, 2]]), "'income'"),
    "text": (np.array([["1", "2", "x"]]), "'age'"),
    "text in pandas": (FRAME.assign(income="12"), "'income'"),
    "text in polars": (pl.DataFrame(FRAME).with_columns(income=pl.lit("12")), "'income'"),
    "dates": (FRAME.assign(age=pd.Timestamp("2020-01-01")), "'age'"),
    "mixed": (FRAME.astype(object).assign(age=[1, "x", {}]), "'age'"),
    "column missing": (FRAME.drop(columns="visits"), "'visits'"),
    "column missing in polars": (pl.DataFrame(FRAME).drop("visits"), "'visits'"),
    "column missing in a lazy frame": (pl.LazyFrame(FRAME).drop("visits"), "'visits'"),
    "column twice": (TWICE, "'age'"),
    "a series": (pl.Series([1.0]), "named columns"),
    "something else": (42, "int"),
    "no such file": ("nowhere.csv", "nowhere.csv"),
    "unknown format": (__file__, "unknown format"),
}


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_answered_in_one_sentence(bad):
    X, part = BAD_ROWS[bad]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make_release().predict(X)
    as_one_sentence(error, part)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("text.csv", b"age,income,visits\nold,2,1\n", "'age'"),
        ("short.csv", b"age,income\n1,2\n", "'visits'"),
        ("ragged.csv", b"age,income,visits\n1,2,3\n1,2\n", "ragged.csv"),
        ("empty.csv", b"", "empty.csv"),
        ("broken.parquet", b"PAR1 and no more", "broken.parquet"),
    ],
)
def test_bad_files_are_answered_in_one_sentence(tmp_path, name, content, part):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make_release().predict(tmp_path / name)
    as_one_sentence(error, part)


@pytest.mark.parametrize("empty", [np.empty((0, 3)), FRAME.iloc[:0], pl.DataFrame(FRAME).head(0)])
def test_no_rows_are_answered_in_one_sentence(empty):
    with pytest.raises(ValueError, match="no rows"):
        make_release().predict(empty)


def test_centres_without_shares_of_the_categories_are_refused():
    schema = Schema({"age": Box(0, 120), "sex": Categories(["f", "m"])})
    with pytest.raises(ReleaseError) as error:
        make_release([[10], [90]], schema)
    as_one_sentence(error, "1 coordinates", "each category")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_labels_are_added_in_the_frames_own_library(make):
    frame = make(FRAME)
    labelled = make_release().label(frame)
    assert type(labelled) is type(frame)
    assert list(labelled["cluster"].to_numpy()) == brute_force(FRAME.to_numpy())
    assert "cluster" not in (frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    with pytest.raises(ReleaseError) as error:
        make_release().label(labelled)
    as_one_sentence(error, "'cluster'")
    assert make_release().label(labelled, "group") is not None


def test_a_pandas_index_is_kept():
    frame = FRAME.set_axis(["a", "b", "c"])
    assert make_release().label(frame).index.tolist() == ["a", "b", "c"]


def test_an_array_takes_no_column():
    with pytest.raises(ReleaseError) as error:
        make_release().label(np.zeros((2, 3)))
    as_one_sentence(error, "ndarray", "predict")
