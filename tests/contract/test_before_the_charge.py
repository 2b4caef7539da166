"""What can be known before a fit is charged is found before it: one sentence, nothing charged."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import MatrixRow, Person
from privclust.budget import Budget
from privclust.ledger.ledger import Ledger
from support.estimators import ESTIMATORS, EstimatorRecord

SIZES = ("n_clusters", "n_centers", "n_row_clusters", "n_column_clusters")
TABLES = tuple(record for record in ESTIMATORS if isinstance(record.data(), pd.DataFrame))
MATRICES = tuple(record for record in ESTIMATORS if record not in TABLES)
# A source without rows is in the domain.
NEED_ROWS = tuple(record for record in TABLES if record.public_data is None)
NUMERIC = tuple(
    record for record in TABLES if all(map(pd.api.types.is_numeric_dtype, record.data().dtypes))
)
SIZED = tuple(
    record for record in ESTIMATORS if any(hasattr(record.make(), name) for name in SIZES)
)
CROWDED = tuple(record for record in ESTIMATORS if record.positional)
UNITS = [
    pytest.param(record, unit, id=f"{record.name}-{unit}")
    for record in ESTIMATORS
    for unit in record.refused
]


def each_of(records: tuple[EstimatorRecord, ...]) -> pytest.MarkDecorator:
    """Try a test with each of some estimators."""
    return pytest.mark.parametrize("record", records, ids=lambda record: record.name)


every_estimator, tables, matrices = map(each_of, (ESTIMATORS, TABLES, MATRICES))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A ledger that would grant every fit."""
    opened = Ledger.open(tmp_path_factory.mktemp("ledger") / "budget.db")
    for record in ESTIMATORS:
        opened.create_dataset(record.name, record.units[0])
        opened.grant(record.name, 1000)
    return opened


@pytest.fixture
def refused(ledger: Ledger) -> Callable[..., str]:
    """Fit, expect one sentence, and look into the ledger."""

    def fit(record: EstimatorRecord, data: Any, unit: Any = None, **changes: Any) -> str:
        named = {"ledger": ledger, "dataset": record.name}
        before = ledger.head()  # it stands for every entry
        with pytest.raises((ValueError, TypeError)) as caught:
            record.fit(record.make(unit, **named, **changes), data)
        message = str(caught.value)
        assert ledger.head() == before, message
        assert "charge" not in message
        assert message.endswith(".")
        assert "\n" not in message
        return message

    return fit


def test_the_ledger_would_grant_a_fit_that_works(ledger: Ledger) -> None:
    for record in ESTIMATORS:
        named = {"ledger": ledger, "dataset": record.name}
        record.fit(record.make(**named), record.data())
        assert [entry.kind for entry in ledger.history(record.name)][-2:] == ["charge", "settle"]


# Files and columns.
@each_of(NEED_ROWS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_without_rows_is_refused(record, form, refused, tmp_path):
    path = tmp_path / f"rows.{form}"
    empty = record.data()[:0]
    empty.to_csv(path, index=False) if form == "csv" else empty.to_parquet(path)
    assert "no rows" in refused(record, path)


@every_estimator
@pytest.mark.parametrize("name", ["nothing.csv", "nothing.parquet", "nothing.mtx", "nothing.npz"])
def test_a_missing_file_is_refused(record, name, refused, tmp_path):
    shape = {"shape": (240, 90)} if record in MATRICES else {}
    refused(record, tmp_path / name, **shape)


def wrongly_typed(data: pd.DataFrame) -> pd.DataFrame:
    """Return rows with text where numbers are declared, or dates where texts are."""
    wrong = data.copy()
    first = data.columns[0]
    numbers = pd.api.types.is_numeric_dtype(data[first])
    wrong[first] = "text" if numbers else pd.Timestamp("2020-01-01")
    return wrong


@tables
@pytest.mark.parametrize("form", ["parquet", "arrow table", "arrow file", "pandas"])
def test_a_column_of_a_type_that_was_not_declared_is_refused(record, form, refused, tmp_path):
    wrong = wrongly_typed(record.data())
    table = pa.Table.from_pandas(wrong)
    pq.write_table(table, tmp_path / "rows.parquet")
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    first = wrong.columns[0]
    typed = wrong.astype({first: "string"}) if wrong[first].dtype == object else wrong
    forms = {
        "parquet": tmp_path / "rows.parquet",
        "arrow table": table,
        "arrow file": tmp_path / "rows.arrow",
        "pandas": typed,
    }
    assert repr(first) in refused(record, forms[form])


@each_of(NUMERIC)
def test_an_array_of_texts_is_refused_where_numbers_are_declared(record, refused):
    refused(record, np.full(record.data().shape, "text"))


@tables
@pytest.mark.parametrize("form", ["csv", "parquet", "pandas"])
@pytest.mark.parametrize("change", ["a column more", "a column less"])
def test_columns_that_are_not_those_declared_are_refused(record, form, change, refused, tmp_path):
    data = record.data()
    first = data.columns[0]
    more = change == "a column more"
    changed = data.assign(undeclared=1) if more else data.drop(columns=first)
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        changed.to_csv(path, index=False)
    elif form == "parquet":
        changed.to_parquet(path)
    given = changed if form == "pandas" else path
    if more and record.name == "PrivateBounds":  # its columns select, and others are not read
        record.fit(record.make(record.units[0]), given)
    else:
        assert repr("undeclared" if more else first) in refused(record, given)


@tables
def test_a_missing_id_column_is_refused(record, refused):
    assert "'nobody'" in refused(record, record.data(), Person("nobody", 1))


# Parameters.
@each_of(SIZED)
@pytest.mark.parametrize("size", [0, -1, 2.5, "3", None])
def test_a_wrong_number_of_clusters_is_refused(record, size, refused):
    sizes = [name for name in SIZES if hasattr(record.make(), name)]
    for name in sizes:
        if size is None and signature(record.kind).parameters[name].default is None:
            continue  # the number may be left out
        changed = {**record.make().get_params(deep=False), name: size}
        kept = {key: changed[key] for key in sizes}
        again = EstimatorRecord(
            **{**vars(record), "positional": (), "parameters": record.parameters | kept}
        )
        assert name in refused(again, record.data())


@each_of(CROWDED)
def test_more_clusters_than_memory_can_hold_are_refused(record, refused):
    again = EstimatorRecord(**{**vars(record), "positional": (10**8,) * len(record.positional)})
    refused(again, record.data())


@every_estimator
@pytest.mark.parametrize(
    "budget",
    [
        *({"epsilon": value} for value in (0, -1, float("nan"), float("inf"), "much", None, 1e-9)),
        {"epsilon": 1e7},
        {"delta": 1},
        {"delta": -1e-9},
        {"budget": 1.0},
        {"budget": Budget(1e-9)},
        {"budget": Budget.of_rho(1e-12, 1e-6)},
    ],
    ids=str,
)
def test_a_budget_that_no_fit_can_have_is_refused(record, budget, refused):
    refused(record, record.data(), **budget)


@pytest.mark.parametrize(("record", "unit"), UNITS)
def test_a_unit_of_another_kind_of_data_is_refused(record, unit, refused):
    refused(record, record.data(), unit)


@every_estimator
@pytest.mark.parametrize("unit", ["nobody", 3])
def test_what_is_no_unit_is_refused(record, unit, refused):
    refused(record, record.data(), unit)


# Shapes.
@matrices
@pytest.mark.parametrize("shape", [(0, 90), (240,), "shape", (3 * 10**9, 3 * 10**9), (240, 91)])
def test_a_shape_that_cannot_be_is_refused(record, shape, refused):
    refused(record, record.data(), shape=shape)


@matrices
def test_a_small_file_that_declares_a_huge_matrix_is_refused(record, refused, tmp_path):
    path = tmp_path / "huge.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate integer general\n3000000000 3000000000 1\n1 1 1\n"
    )
    assert "memory" in refused(record, path)


@matrices
def test_triples_without_a_shape_or_with_other_columns_are_refused(record, refused, tmp_path):
    path = tmp_path / "triples.csv"
    path.write_text("row,column,count\n0,0,1\n")
    assert "shape" in refused(record, path)
    path.write_text("row,column,number\n0,0,1\n")
    refused(record, path, shape=(240, 90))


@matrices
def test_texts_and_a_matrix_without_columns_are_refused(record, refused):
    refused(record, np.full((3, 3), "text"))
    refused(record, np.zeros((3, 0)))
    refused(record, np.zeros(3))


@matrices
@pytest.mark.parametrize("form", ["parquet", "arrow table", "pandas"])
def test_triples_whose_columns_hold_no_numbers_are_refused(record, form, refused, tmp_path):
    triples = pd.DataFrame(
        {"row": [0], "column": [0], "count": pd.Series(["many"], dtype="string")}
    )
    path = tmp_path / "triples.parquet"
    triples.to_parquet(path)
    data = {"parquet": path, "arrow table": pa.Table.from_pandas(triples), "pandas": triples}[form]
    assert "'count'" in refused(record, data, shape=(240, 90))


@matrices
def test_a_frame_whose_columns_hold_no_numbers_is_refused(record, refused):
    frame = pd.DataFrame({"a": [1, 2], "b": pd.Series(["x", "y"], dtype="string")})
    assert "'b'" in refused(record, frame)


@matrices
@pytest.mark.parametrize("entries", [[1j, 2], ["x", "y"]], ids=["complex", "text"])
def test_a_file_whose_entries_are_no_real_numbers_is_refused(record, entries, refused, tmp_path):
    path = tmp_path / "wrong.npz"
    parts = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": (2, 2)}
    np.savez(path, data=np.array(entries), **parts)
    assert "real numbers" in refused(record, path)


@matrices
def test_a_matrix_market_file_of_complex_entries_is_refused(record, refused, tmp_path):
    path = tmp_path / "wrong.mtx"
    path.write_text("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n")
    assert "real numbers" in refused(record, path)


@tables
def test_rows_of_one_or_three_dimensions_are_refused(record, refused):
    refused(record, np.zeros(3))
    refused(record, np.zeros((3, 3, 3)))


def test_whole_rows_of_a_matrix_need_a_delta(refused):
    record = next(record for record in MATRICES if MatrixRow() in record.units)
    refused(record, record.data(), MatrixRow(), delta=0)
