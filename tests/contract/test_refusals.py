"""All that a row can do to make a fit fail: rules that prevent it, and what remains.

The list of what remains is on the page of the promise, line by line; here each line has neighbours
of which one is refused. Every ``raise`` behind the door and in the readers is classified, so that a
new one has to be.
"""

from __future__ import annotations

import ast
import datetime
import gzip
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from privclust import (
    Bins,
    Box,
    Categories,
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    Person,
    PrivateBounds,
    PrivateCoclustering,
    PrivateDilca,
    PrivateKMeans,
    ReplaceRow,
    Schema,
)
from privclust.data.question import Question, Term
from privclust.exceptions import DataError, NoRowsError
from privclust.reading import csv_files
from privclust.reading.declared import open_declared

ROOT = Path(__file__).parents[2]
SCHEMA = Schema({"x": Box(0, 10, missing=0), "y": Box(0, 10, missing=0)})
ROWS = [[float(i % 10), float(i // 10)] for i in range(60)]
FRAME = pd.DataFrame(ROWS, columns=["x", "y"])

Pair = tuple[Callable[[], Any], Callable[[], Any]]


def kmeans(data: Any, **given: Any) -> Any:
    return PrivateKMeans(2, epsilon=1, random_state=0, **{"schema": SCHEMA, **given}).fit(data)


def blocks(data: Any) -> Any:
    with open_declared(data, SCHEMA) as source:
        return list(source.blocks())


def counts(data: Any, unit: Any = None, **declared: Any) -> Any:
    unit = unit or MatrixCount()
    delta = 1e-6 if isinstance(unit, MatrixRow) else 0
    model = PrivateCoclustering(2, 2, epsilon=1, delta=delta, unit=unit, random_state=0, **declared)
    return model.fit(data)


# What remains: the name of a line of the page, and neighbours of which the second is refused.


def no_rows(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    (folder / "one.csv").write_text("x,y\n1,2\n")
    (folder / "none.csv").write_text("x,y\n")
    (folder / "empty lines.csv").write_text("x,y\n\n\n")
    person = FRAME[:1].assign(who="a")
    return [
        (lambda: kmeans(FRAME[:1]), lambda: kmeans(FRAME[:0])),
        (lambda: kmeans(folder / "one.csv"), lambda: kmeans(folder / "none.csv")),
        (lambda: kmeans(folder / "one.csv"), lambda: kmeans(folder / "empty lines.csv")),
        (
            lambda: kmeans(person, unit=Person("who", 1)),
            lambda: kmeans(person[:0], unit=Person("who", 1)),
        ),
    ]


def number_of_rows(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    FRAME.to_csv(folder / "a.csv", index=False)
    FRAME[:-1].to_csv(folder / "b.csv", index=False)
    unit = ReplaceRow(len(FRAME))
    return [
        (lambda: kmeans(FRAME, unit=unit), lambda: kmeans(FRAME[:-1], unit=unit)),
        (lambda: kmeans(folder / "a.csv", unit=unit), lambda: kmeans(folder / "b.csv", unit=unit)),
    ]


def number_of_fields(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    (folder / "a.csv").write_text("x,y\n1,2\n3,4\n5,6\n")
    (folder / "b.csv").write_text("x,y\n1,2\n3,4\n5,6,7\n")
    return [
        (lambda: kmeans(folder / "a.csv"), lambda: kmeans(folder / "b.csv")),
        (lambda: kmeans(ROWS), lambda: kmeans([*ROWS[:-1], [1.0, 2.0, 3.0]])),
        (
            lambda: counts([[1, 2], [3, 4]]),
            lambda: counts([[1, 2], [3]]),
        ),
        (
            lambda: counts([[1, 2], [3, 4]], MatrixCount("zero")),
            lambda: counts([[1, 2], [3, [4]]], MatrixCount("zero")),
        ),
    ]


def long_record(folder: Path, patch: pytest.MonkeyPatch) -> list[Pair]:
    patch.setattr(csv_files, "_CSV_BYTES", 2**8)
    patch.setattr(csv_files, "_LONGEST_RECORD", 2**10)
    lines = "x,y\n" + "1,2\n" * 300
    (folder / "a.csv").write_text(f"{lines}1,{'0' * 600}2\n")
    (folder / "b.csv").write_text(f"{lines}1,{'0' * 6000}2\n")
    return [(lambda: kmeans(folder / "a.csv"), lambda: kmeans(folder / "b.csv"))]


class Broken:
    """An Arrow stream that breaks off."""

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        schema = pa.schema({"x": pa.float64(), "y": pa.float64()})

        def batches() -> Any:
            yield pa.RecordBatch.from_pandas(FRAME, schema=schema)
            raise OSError

        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested)


def damaged(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    FRAME.to_csv(folder / "a.csv.gz", index=False)
    packed = gzip.compress((FRAME.to_csv(index=False) * 200).encode())
    (folder / "b.csv.gz").write_bytes(packed[:-30])
    FRAME.to_parquet(folder / "a.parquet")
    stored = bytearray((folder / "a.parquet").read_bytes())
    stored[4:60] = bytes(56)
    (folder / "b.parquet").write_bytes(stored)
    header = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n"
    (folder / "a.mtx").write_text(header + "2 2 4\n")
    (folder / "b.mtx").write_text(header + "2 2 x\n")
    texts = pl.LazyFrame({"x": ["1"] * 40, "y": ["2"] * 40})
    numbers = texts.with_columns(pl.col("x").cast(pl.Float64), pl.col("y").cast(pl.Float64))
    wrong = pl.LazyFrame({"x": ["1"] * 39 + ["a"], "y": ["2"] * 40})
    no_numbers = wrong.with_columns(pl.col("x").cast(pl.Float64), pl.col("y").cast(pl.Float64))
    whole = pa.RecordBatchReader.from_stream(pa.Table.from_pandas(FRAME))
    return [
        (lambda: kmeans(folder / "a.csv.gz"), lambda: kmeans(folder / "b.csv.gz")),
        (lambda: kmeans(folder / "a.parquet"), lambda: kmeans(folder / "b.parquet")),
        (lambda: counts(folder / "a.mtx"), lambda: counts(folder / "b.mtx", MatrixCount("zero"))),
        (lambda: kmeans(numbers), lambda: kmeans(no_numbers)),
        (lambda: kmeans(whole), lambda: kmeans(Broken())),
    ]


def changed(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    def read_twice(*, change: bool) -> None:
        path = folder / "a.csv"
        FRAME.to_csv(path, index=False)
        with open_declared(path, SCHEMA) as source:
            list(source.blocks())
            if change:
                path.write_text(path.read_text() + "1,2\n")
            list(source.blocks())

    return [(lambda: read_twice(change=False), lambda: read_twice(change=True))]


def sums(_: Path, __: pytest.MonkeyPatch) -> list[Pair]:
    question = Question("count", Term.within(2**61))
    held = lambda n_rows: question.held(np.zeros(1, np.int64), n_rows)  # noqa: E731
    return [(lambda: held(3), lambda: held(4))]


def places(folder: Path, _: pytest.MonkeyPatch) -> list[Pair]:
    inside = pd.DataFrame({"row": [0, 1], "column": [0, 1], "count": [3, 4]})
    total, shape = MatrixCount("zero"), (2, 2)
    pairs: list[Pair] = []
    for column in ("row", "column"):
        for wrong in (2, -1, 0.5, np.nan):
            outside = inside.astype(float)
            outside.loc[1, column] = wrong
            pairs.append(
                (
                    lambda: counts(inside, total, shape=shape),
                    lambda outside=outside: counts(outside, total, shape=shape),
                )
            )
    broken = sparse.csr_array(np.ones((2, 2), int))
    broken.indices = np.array([0, 1, 0, 7], np.int32)
    pairs.append((lambda: counts(np.ones((2, 2))), lambda: counts(broken, total)))
    return pairs


REMAINING = {
    "no row": no_rows,
    "number of rows": number_of_rows,
    "number of fields": number_of_fields,
    "long record": long_record,
    "damage": damaged,
    "change": changed,
    "sums": sums,
    "places": places,
}


@pytest.mark.parametrize("line", REMAINING)
@pytest.mark.filterwarnings("ignore")
def test_each_line_of_the_page_has_neighbours_of_which_one_is_refused(line, tmp_path, monkeypatch):
    for taken, refused in REMAINING[line](tmp_path, monkeypatch):
        taken()
        with pytest.raises(DataError) as caught:
            refused()
        assert isinstance(caught.value, NoRowsError) == (line == "no row")
        assert re.fullmatch(r"[^\n]+\.", str(caught.value))


def test_the_page_lists_what_remains_and_no_more():
    page = (ROOT / "proofs" / "promise.md").read_text()
    section = page.split("## Refusals\n")[1].split("\n## ")[0]
    assert re.findall(r"^- \*([^*]+)\*:", section, re.MULTILINE) == list(REMAINING)
    for rule in RULES:
        assert f"`{rule}`" in section


# What rules prevent: a fit that a value makes fail under "error", and not under the rule.


class Odd:
    """An object that is unlike any value, and bad at everything."""

    def __float__(self) -> float:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


NO_NUMBERS = [
    None, np.nan, np.inf, -np.inf, "abc", "", b"x", 1e400, Odd(), [1], {}, 1j, pd.NA, pd.NaT,
    "\ud800",
]  # fmt: skip
MOMENTS = [datetime.date(2024, 1, 1), datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)]
ODD = [*NO_NUMBERS, *MOMENTS, 2**70, True]


def points(value: Any, fact: Any) -> Any:
    frame = pd.DataFrame({"x": [*FRAME["x"], value], "y": 1.0}, dtype=object)
    return kmeans(frame, schema=Schema({"x": fact, "y": Box(0, 10, missing=0)}))


def categories(value: Any, fact: Any) -> Any:
    frame = pd.DataFrame({"a": [*["p", "q"] * 20, value], "b": ["p"] * 41}, dtype=object)
    schema = Schema({"a": fact, "b": Categories(["p", "q"])})
    return PrivateDilca(epsilon=1, schema=schema, random_state=0).fit(frame)


def people(value: Any, unit: Any) -> Any:
    return kmeans(FRAME.assign(who=pd.Series([*range(59), value], dtype=object)), unit=unit)


def bounds(value: Any, unreadable: str) -> Any:
    frame = pd.DataFrame({"x": [*FRAME["x"], value]}, dtype=object)
    return PrivateBounds(epsilon=1, columns=["x"], unreadable=unreadable, random_state=0).fit(frame)


def entries(value: Any, unit: Any) -> Any:
    table = np.ones((6, 4), dtype=object)
    table[2, 3] = value
    return counts(table, unit)


# A rule, a fit of one value under it, what is declared strictly and totally, and values that are
# refused without it.
LISTED, DATES = ["p", "q"], ("2020-01-01", "2024-01-01")
RULES: dict[str, list[tuple[Callable[..., Any], Any, Any, list[Any]]]] = {
    "Box(missing=NUMBER)": [
        (points, Box(0, 10), Box(0, 10, missing=0), [*NO_NUMBERS, *MOMENTS]),
        (points, Box(*DATES), Box(*DATES, missing=DATES[0]), [*NO_NUMBERS, 2**70, True]),
    ],
    "Bins(missing=\"category\")": [
        (points, Bins([0, 5, 10]), Bins([0, 5, 10], missing="category"), [None, np.nan, "abc"]),
    ],
    "Categories(missing=\"category\", unknown=\"other\")": [
        (
            categories,
            Categories(LISTED),
            Categories(LISTED, missing="category", unknown="other"),
            ODD,
        ),
    ],
    "Person(missing=\"separate\")": [
        (
            people,
            Person("who", 2, "number"),
            Person("who", 2, "number", "separate"),
            [2.5, 2.0**60, "abc", datetime.date(2024, 1, 1), None, "", np.nan, Odd(), b"7", True],
        ),
        (
            people,
            Person("who", 2),
            Person("who", 2, missing="separate"),
            [2.5, 2.0**60, datetime.date(2024, 1, 1), None, "", np.nan, Odd(), b"7", True],
        ),
    ],
    "PrivateBounds(unreadable=\"missing\")": [(bounds, "error", "missing", ["abc", Odd(), b"x"])],
    "MatrixCount(unreadable=\"zero\")": [
        (entries, unit("error"), unit("zero"), [-1, np.nan, np.inf, 0.5, "abc", None, Odd(), 1j])
        for unit in (
            MatrixCount,
            MatrixRow,
            lambda rule: MatrixEntry(3, unreadable=rule),
        )
    ],
}  # fmt: skip
CASES = [
    pytest.param(*case, id=f"{rule}-{number}")
    for rule, cases in RULES.items()
    for number, case in enumerate(cases)
]


@pytest.mark.parametrize(("fit", "strict", "total", "refused"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_a_rule_takes_every_value_and_without_it_some_are_refused(fit, strict, total, refused):
    for value in refused:
        with pytest.raises(DataError):
            fit(value, strict)
    for value in [*ODD, *refused, 0.5, -1]:
        fit(value, total)


# Every place that raises, and why a row reaches it.
#
# "public": names, types, parameters, paths and shapes alone decide, and mostly before the charge;
# "rule": a declared rule "error" decides; "never": no row and no reader gets there; the others are
# lines of the page.
RAISED = {
    "public": {
        "data/columns/counts.py:_check_shape": 1,
        "data/columns/counts.py:check_has_columns": 2,
        "data/columns/counts.py:check_number_type": 1,
        "data/people.py:PersonRows.__init__": 1,
        "data/encode.py:check_dimension": 1,
        "data/encode.py:Domain.from_schema": 3,
        "data/numbers/public.py:forms_of": 3,
        "data/papers/door.py:around_origin": 1,
        "data/points/mixed.py:MixedDomain.from_schema": 2,
        "data/sites/distances.py:_check_angles": 1,
        "data/sites/distances.py:_check_degrees": 2,
        "data/sites/distances.py:_check_lengths": 1,
        "data/table/codes.py:CategoryCoder.__init__": 2,
        "data/table/public.py:check_cells": 1,
        "data/table/public.py:check_subsets": 1,
        "opening/matrices.py:source_of_npz": 2,
        "opening/rows.py:schema_for": 1,
        "reading/arrays.py:as_array": 4,
        "reading/arrays.py:by_rows": 2,
        "reading/csv_files.py:check_names": 1,
        "reading/excel_files.py:excel_header": 1,
        "reading/csv_files.py:header": 2,
        "reading/declared.py:_check_kind": 1,
        "reading/files.py:_one_choice": 1,
        "reading/files.py:open_files": 1,
        "reading/frames.py:pandas_names": 1,
        "reading/matrix_files.py:_header": 4,
        "reading/matrix_files.py:market_shape": 2,
        "reading/matrices.py:MatrixReader._check_columns": 1,
        "reading/matrices.py:MatrixReader._check_file": 1,
        "reading/matrices.py:MatrixReader._require_shape": 1,
        "reading/matrices.py:_parse_shape": 2,
        "reading/matrices.py:_refuse_workbooks": 1,
        "reading/matrix_files.py:check_memory": 1,
        "reading/matrix_files.py:npz_shape": 4,
        "reading/matrix_parts.py:npz_shape_at": 1,
        "reading/opening.py:_open_in_memory": 1,
        "reading/opening.py:_open_once": 2,
        "reading/opening.py:open_rows": 2,
        "reading/locations.py:_location_of": 2,
        "reading/locations.py:_expand_path": 3,
        "reading/locations.py:_in_file": 1,
        "reading/locations.py:_standard_input": 1,
        "reading/locations.py:resolve_locations": 2,
        "reading/locations.py:files_at": 2,
        "reading/selection.py:_not_empty": 1,
        "reading/selection.py:select_by_name": 4,
        "reading/selection.py:select_by_position": 2,
    },
    "rule": {
        "data/columns/counts.py:_read": 1,
        "data/columns/refusals.py:numbers_of": 1,
        "data/people.py:ContributionBound._numbers_of": 1,
        "data/encode.py:Domain.complete": 2,
        "data/table/codes.py:_bin_codes": 1,
        "data/table/codes.py:_value_codes": 3,
        "reading/matrices.py:_dense_array": 1,
        "reading/matrices.py:_read_wide": 1,
    },
    "never": {
        "data/door.py:Door._content": 1,
        "data/engines/local.py:sum_in_threads": 1,
        "data/matrix/public.py:Groups.__post_init__": 1,
        "data/papers/kernels.py:SwapCosts.__post_init__": 1,
        "data/points/public.py:Components.__post_init__": 3,
        "data/points/public.py:Projection.__post_init__": 2,
        "data/points/view.py:PointsView.ask_grouped_clusters": 1,
        "data/question.py:Scores.__post_init__": 1,
        "data/question.py:_check_exact": 1,
        "data/rows.py:Block.__init__": 1,
        "opening/matrices.py:OpenedMatrix.source": 1,
        "reading/frames.py:_join": 1,
        "reading/files.py:Piece._read_stored": 1,
    },
    "no row": {
        "data/rows.py:RowSource.blocks": 2,  # the other one is of a source that was closed
        "reading/declared.py:check_declared": 1,
    },
    "number of rows": {
        "data/rows.py:RowSource.check_count": 1,
        "data/rows.py:RowSource.declare_count": 1,
    },
    "number of fields": {
        "reading/arrays.py:_from_lists": 1,
        "reading/csv_files.py:csv_batches": 1,  # and long records, and damage
        "reading/matrices.py:_check_two_dimensions": 2,
    },
    "damage": {
        "reading/excel_files.py:_next": 1,
        "reading/excel_files.py:_rows": 2,  # and a library that is not installed
        "reading/csv_files.py:_header": 1,
        "reading/files.py:_read_footer": 1,
        "reading/matrix_files.py:_numbers": 1,
        "reading/matrix_files.py:read_market": 1,
        "reading/matrix_files.py:read_npz": 1,
        "reading/matrix_parts.py:_npz_at": 1,
        "reading/files.py:ArrowPiece._read_stored": 1,
        "reading/files.py:ParquetPiece.span_of": 1,
        "reading/files.py:parquet_batches": 1,
        "reading/locations.py:_SpooledStream.__init__": 1,
        "reading/spool.py:write_lazy": 1,
        "reading/spool.py:write_stream": 1,
    },
    "change": {
        "data/rows.py:FilteredPart.blocks": 2,
        "reading/locations.py:FileLocation.check_unchanged": 2,
        "reading/locations.py:_stamp": 1,
    },
    "sums": {
        "data/matrix/view.py:MatrixView._n_steps": 1,
        "data/question.py:_Declared.held": 1,
    },
    "places": {
        "data/columns/counts.py:check_places": 2,
        "reading/matrices.py:matrix_of_triples": 1,
    },
}


def raised_in(folder: str) -> Counter[str]:
    """Return the functions of a package that raise, assert or turn an error into a sentence."""
    found: Counter[str] = Counter()

    def walk(node: ast.AST, place: str, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = within
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{within}.{child.name}".removeprefix(".")
            turned = isinstance(child, ast.Call) and ast.unparse(child.func) == "as_one_sentence"
            raised = isinstance(child, ast.Raise) and child.exc is not None
            if raised or turned or isinstance(child, ast.Assert):
                found[f"{place}:{inside}"] += 1
            walk(child, place, inside)

    source = ROOT / "src" / "privclust"
    for path in sorted((source / folder).rglob("*.py")):
        walk(ast.parse(path.read_text()), path.relative_to(source).as_posix(), "")
    return found


def test_every_raise_behind_the_door_and_in_the_readers_is_classified():
    """Whoever adds one says what reaches it; what a row can reach is a line of the page."""
    found = {k: n for part in ("data", "reading", "opening") for k, n in raised_in(part).items()}
    listed = {place: count for places in RAISED.values() for place, count in places.items()}
    assert found == listed
    assert sum(map(len, RAISED.values())) == len(listed)
    assert set(RAISED) <= {"public", "rule", "never", *REMAINING}
