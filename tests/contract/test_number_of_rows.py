"""Under replaced rows their number is public only where it is declared or stated before reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import (
    Categories,
    PrivateKMeans,
    ReplaceRow,
    Schema,
)
from privclust.cli.commands import app
from privclust.data.table.view import TableRows
from privclust.exceptions import DataError, UnitMismatchError
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import open_table
from privclust.release.release import Release
from support.command_line import CliRunner
from support.estimators import ESTIMATORS
from support.transcripts import recorded_draws, replayed_draws
from support.variants import categorical_kmeans, dilca

TOTAL: dict[str, Any] = {"missing": "category", "unknown": "other"}
SCHEMA = Schema({"a": Categories(["p", "q"], **TOTAL), "b": Categories([0, 1], **TOTAL)})
MODELS = {
    "dilca": lambda unit, **more: dilca(epsilon=1, schema=SCHEMA, unit=unit, **more),
    "categories": lambda unit, **more: categorical_kmeans(
        2, epsilon=1, schema=SCHEMA, unit=unit, **more
    ),
    "points": lambda unit, **more: PrivateKMeans(
        2, epsilon=1, schema=SCHEMA, metric="dilca", unit=unit, **more
    ),
}
TABLES = [record for record in ESTIMATORS if isinstance(record.data(), pd.DataFrame)]
FRAME = pd.DataFrame({"a": ["p", "q", "p"] * 10, "b": [0, 1, 1] * 10})
N_ROWS = len(FRAME)


def folder_of(values: list[str | None], folder: Path) -> Path:
    """Write two files of one column each, whose folders give the second."""
    for part in (0, 1):
        (folder / f"b={part}").mkdir(parents=True)
        half = values[:15] if part == 0 else values[15:]
        pl.DataFrame({"a": half}, schema={"a": pl.String}).write_csv(folder / f"b={part}/f.csv")
    return folder


def stated(kind: str, folder: Path) -> Any:
    if kind == "csv":
        FRAME.to_csv(folder / "a.csv", index=False)
        return folder / "a.csv"
    if kind == "parquet":
        FRAME.to_parquet(folder / "a.parquet")
        return folder / "a.parquet"
    if kind == "stream":
        return pa.Table.from_pandas(FRAME).to_reader(7)
    return {
        "frame": FRAME,
        "polars": pl.from_pandas(FRAME),
        "arrow": pa.Table.from_pandas(FRAME),
        "array": FRAME.to_numpy(),
    }[kind]


@pytest.mark.parametrize(
    ("model", "options"),
    [*((model, {}) for model in MODELS), ("dilca", {"method": "max-relevance"})],
)
def test_a_row_without_a_value_is_told_apart_by_nothing_that_leaves(model, options, tmp_path):
    values: list[str | None] = ["p", "q", "q"] * 10
    left = folder_of(values, tmp_path / "left")
    right = folder_of([*values[:-1], None], tmp_path / "right")
    with recorded_draws() as draws:
        one = MODELS[model]("replace-row", random_state=0, **options).fit(left)
    with replayed_draws([draw.answer for draw in draws]) as again:
        other = MODELS[model]("replace-row", random_state=0, **options).fit(right)
    assert [draw.mechanism for draw in draws] == [draw.mechanism for draw in again]
    assert one.release() == other.release()


@pytest.mark.parametrize("kind", ["csv", "stream", "frame", "polars", "arrow", "array", "parquet"])
def test_a_number_that_nobody_stated_is_asked_with_noise(kind, tmp_path):
    model = MODELS["dilca"]("replace-row", method="max-relevance", random_state=0)
    model.fit(stated(kind, tmp_path))
    asked = [charge.query for charge in model.privacy_.queries]
    assert ("number of rows" in asked) == (kind in ("csv", "stream"))


def test_a_number_that_is_declared_costs_nothing_and_gives_the_fit_of_a_frame(tmp_path):
    def released(unit: ReplaceRow, data: Any) -> Any:
        model = MODELS["dilca"](unit, method="max-relevance", random_state=0).fit(data)
        return model.release().arrays

    declared = released(ReplaceRow(N_ROWS), stated("csv", tmp_path))
    for name, array in released(ReplaceRow(), FRAME).items():
        np.testing.assert_array_equal(declared[name], array)


@pytest.mark.parametrize("kind", ["csv", "stream", "frame", "parquet"])
@pytest.mark.parametrize("n_rows", [N_ROWS - 1, N_ROWS + 1])
@pytest.mark.parametrize("model", MODELS)
def test_another_number_than_declared_is_one_sentence_and_nothing_is_kept(
    kind, n_rows, model, tmp_path
):
    fit = MODELS[model](ReplaceRow(n_rows), random_state=0)
    with pytest.raises(
        DataError, match=r"^The data have a different number of rows.*\.$"
    ) as caught:
        fit.fit(stated(kind, tmp_path))
    assert "\n" not in str(caught.value)
    assert not hasattr(fit, "privacy_")


@pytest.mark.parametrize("record", TABLES, ids=lambda record: record.name)
def test_every_estimator_refuses_another_number_than_declared(record, tmp_path):
    data = record.data()
    data.to_csv(tmp_path / "a.csv", index=False)
    for given in (data, tmp_path / "a.csv"):
        with pytest.raises(DataError, match="a different number of rows"):
            record.fit(record.make(ReplaceRow(len(data) + 1)), given)
    record.fit(record.make(ReplaceRow(len(data))), tmp_path / "a.csv")


def test_what_a_frame_states_is_compared_before_the_charge(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.create_dataset("town", ReplaceRow(N_ROWS + 1))
    ledger.grant("town", 5)
    charged = {"ledger": ledger, "dataset": "town"}
    with pytest.raises(DataError, match="a different number of rows"):
        MODELS["dilca"](ReplaceRow(N_ROWS + 1), **charged).fit(FRAME)
    assert not any(entry.kind == "charge" for entry in ledger.history())
    with pytest.raises(UnitMismatchError):
        MODELS["dilca"](ReplaceRow(N_ROWS), **charged).fit(FRAME)


def test_no_view_is_made_of_rows_that_are_more_than_declared(tmp_path):
    """The door compares, whoever opened the rows."""
    with (
        open_table(FRAME, SCHEMA, unit=ReplaceRow(7)) as opened,
        pytest.raises(DataError, match="a different number of rows"),
    ):
        TableRows(opened)


def test_a_plan_says_what_it_assumes_and_takes_any_number():
    plan = MODELS["dilca"](ReplaceRow(1_000_000)).plan(500)
    assert "The number of rows, 1,000,000, is not protected." in plan.protects
    assert plan.notes == ()
    (assumed,) = MODELS["dilca"]("replace-row").plan(500).notes
    assert "ReplaceRow(n_rows)" in assumed
    assert MODELS["dilca"]("add-remove-row").plan(500).notes == ()


def test_parquet_files_that_hold_fewer_rows_than_they_state_are_refused(tmp_path, monkeypatch):
    path = stated("parquet", tmp_path)
    read = pq.ParquetFile.iter_batches

    def fewer(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (batch.slice(1) for batch in read(self, *args, **kwargs))

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fewer)
    with pytest.raises(DataError, match="changed while they were read"):
        MODELS["dilca"]("replace-row").fit(path)


def test_the_number_can_be_declared_on_the_command_line(tmp_path):
    data = stated("csv", tmp_path)
    SCHEMA.save(tmp_path / "schema.toml")
    start = ["categorical", str(data), "--schema", str(tmp_path / "schema.toml"), "--epsilon", "1"]
    start += ["--unit", "replace-row"]

    def run(*more: str) -> Any:
        return CliRunner().invoke(app, [*start, "-o", str(tmp_path / f"out{len(more)}"), *more])

    good = run("--n-rows", str(N_ROWS))
    assert good.exit_code == 0, good.output
    assert Release.load(tmp_path / "out2").privacy.unit == ReplaceRow(N_ROWS).to_dict()
    bad = run("--n-rows", "7", "--overwrite")
    assert bad.exit_code != 0
    assert "a different number of rows" in bad.output
    other = CliRunner().invoke(app, ["plan", "kmeans", "--n-rows", "7"])
    assert other.exit_code != 0
    assert "--n-rows belongs to --unit replace-row" in other.output
