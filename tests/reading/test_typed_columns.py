"""Every reader hands over every value by itself, and as what it is.

Of each reader and each type that it takes, rows are read together, apart, in blocks of one and in
another order, by every line of the table: the bits are the same, and they are those of the same
values as Python objects, each in a column of its own.
"""

from __future__ import annotations

import csv
import datetime as dt
import warnings
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from support.readings import check_rows, of_fields, of_objects, readings

FLOATS = [0.0, 0.05, 1.0, -2.5, 5e-324, 1e308, 2.0**53, 2.0**63, np.nan, np.inf, -np.inf]
WHOLE = [0, 1, 7, 100]
LONG = [0, -1, 2**53 + 1, -(2**63), 2**63 - 1]
TEXTS = ["x", "7", "07", "", " 7 ", "0.05", "NA", "true", "2020-02-03", "1:30:00", "P1D", "ä"]
DAY, LEAP, FAR = dt.date(2020, 1, 1), dt.date(2020, 2, 29), dt.date(9999, 12, 31)
NOON, EARLY = dt.datetime(2020, 1, 1, 12, 0, 0, 250_000), dt.datetime(1900, 1, 1, 23, 59, 59)
DAYS, MOMENTS = [DAY, LEAP, FAR, dt.date(1, 1, 1)], [NOON, EARLY, dt.datetime(2262, 1, 1)]
SPANS = [dt.timedelta(hours=1.5), dt.timedelta(days=-3, microseconds=1), dt.timedelta(0)]
TIMES = [dt.time(5, 30), dt.time(23, 59, 59), dt.time(0)]
DECIMALS = [Decimal(text) for text in ("0.05", "50.001", "7", "-3", "0")]
ROME, INDIA = ZoneInfo("Europe/Rome"), dt.timezone(dt.timedelta(hours=5, minutes=30))
ZONED = [NOON.replace(tzinfo=dt.UTC), EARLY.replace(tzinfo=dt.UTC)]


def column(values):
    objects = np.empty((len(values), 1), object)
    objects[:, 0] = values
    return objects


def array(dtype, values):
    return np.array(values, dtype).reshape(-1, 1)


def pandas(kind, values):
    return pd.DataFrame({"a": pd.Series(pd.array(values, dtype=kind), dtype=kind)})


def categories(values):
    return pd.DataFrame({"a": pd.Categorical(values)})


def polars(kind, values):
    return pl.DataFrame({"a": pl.Series(values, dtype=kind)})


def moments(unit, values):
    return array("M8[us]" if unit in ("us", "ns") else "M8[s]", values).astype(f"M8[{unit}]")


OBJECTS = [
    *(None, pd.NA, pd.NaT, np.nan, np.float32("nan"), Decimal("NaN"), np.datetime64("NaT")),
    *(True, np.False_, 7, np.int8(7), 2**53 + 1, 2**64 - 1, 10**30, 10**400, 0.05, np.float32(0.1)),
    *(np.longdouble("0.1"), np.inf, Decimal("0.05"), Decimal("7"), Decimal("1e400"), "x", "7", ""),
    *("\ud800", b"x", DAY, NOON, NOON.replace(tzinfo=INDIA), dt.datetime(1, 1, 1, tzinfo=INDIA)),
    *(dt.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ROME), pd.Timestamp("2020-01-01 12:00")),
    *(pd.Timestamp("2020-01-01", tz="UTC"), np.datetime64("2020-01-01"), np.datetime64(7, "h")),
    *(SPANS[0], pd.Timedelta("1h"), np.timedelta64(90, "m"), TIMES[0], 1j, (1, 2), [3], {"a": 1}),
]
SOME = [None, True, 7, 0.05, Decimal("7"), "7", b"x", DAY, NOON, SPANS[0], "\ud800", 2**64]


IN_MEMORY = {
    "lists": (lambda values: [[value] for value in values], OBJECTS),
    "NumPy O": (column, OBJECTS),
    "pandas object": (partial(pandas, object), OBJECTS),
    "pandas object category": (categories, [7, "x", 0.05, DAY]),
    "polars Object": (partial(polars, pl.Object), SOME),
    **{f"NumPy {kind}": (partial(array, kind), WHOLE) for kind in ("i1", "i4", "u2", ">i4", ">f4")},
    "NumPy ?": (partial(array, "?"), [True, False]),
    "NumPy i8": (partial(array, "i8"), LONG),
    "NumPy u8": (partial(array, "u8"), [0, 2**63 - 1, 2**63, 2**64 - 1]),
    "NumPy f2": (partial(array, "f2"), [np.float16(0.1), np.float16("nan"), np.float16(6e4)]),
    "NumPy f4": (partial(array, "f4"), [np.float32(0.1), np.float32(1e-45), np.float32("inf")]),
    "NumPy f8": (partial(array, "f8"), FLOATS),
    "NumPy g": (partial(array, "g"), [np.longdouble("0.1"), np.longdouble("1e4000"), 1, np.nan]),
    "NumPy U": (partial(array, "U"), TEXTS),
    "NumPy U, no text": (partial(array, "U"), ["7", "\ud800", "x"]),
    "NumPy T": (partial(array, np.dtypes.StringDType()), TEXTS),
    **{
        f"NumPy M8[{unit}]": (partial(moments, unit), [DAY, LEAP, np.datetime64("NaT")])
        for unit in ("W", "M", "Y")
    },
    "NumPy M8[D]": (partial(array, "M8[D]"), DAYS),
    "NumPy M8[h]": (partial(moments, "h"), [dt.datetime(2020, 1, 1, 5), dt.datetime(1900, 1, 1)]),
    **{
        f"NumPy M8[{unit}]": (partial(moments, unit), [EARLY, dt.datetime(2020, 1, 1)])
        for unit in ("s", "ms", "us", "ns")
    },
    "NumPy M8[25s]": (partial(moments, "25s"), [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)]),
    **{
        f"pandas {kind}": (partial(pandas, kind), values)
        for kind, values in {
            "Int8": [0, 7, None],
            "Int64": [*LONG, None],
            "UInt64": [0, 2**64 - 1, None],
            "Float64": [0.05, None, 5e-324, np.inf],
            "boolean": [True, False, None],
            "string[python]": [*TEXTS, None, "\ud800"],
            "string[pyarrow]": [*TEXTS, None],
            "int64[pyarrow]": [*LONG, None],
            "double[pyarrow]": [0.05, None, np.inf],
            "bool[pyarrow]": [True, None],
            "date32[day][pyarrow]": [DAY, None],
            "timestamp[us][pyarrow]": [NOON, None],
            "duration[us][pyarrow]": [SPANS[0], None],
            "datetime64[s]": [dt.datetime(2020, 1, 1), dt.datetime(9999, 12, 31), pd.NaT],
            "datetime64[ns]": [NOON, EARLY, pd.NaT],
            "datetime64[us, UTC]": [NOON.replace(tzinfo=INDIA), pd.NaT, ZONED[1]],
            "datetime64[us, Europe/Rome]": [dt.datetime(2020, 6, 1, tzinfo=ROME), ZONED[0]],
            "timedelta64[ns]": [*SPANS, pd.NaT],
            "timedelta64[s]": [dt.timedelta(days=10**6), pd.NaT],
            "Sparse[float]": [0.0, 0.05, np.nan],
            "complex128": [1j, 2j],
        }.items()
    },
    **{
        f"pandas category of {name}": (categories, values)
        for name, values in {
            "text": ["x", "7", None],
            "integers": [1, 7, None],
            "floats": [0.05, 1.0, None],
            "booleans": [True, False],
            "dates": [DAY, LEAP],
            "moments": [pd.Timestamp(NOON), pd.NaT],
        }.items()
    },
    "pandas decimals": (partial(pandas, object), DECIMALS),
    **{
        f"polars {kind}": (partial(polars, kind), values)
        for kind, values in {
            pl.Int8: [0, 7, None],
            pl.Int64: [*LONG, None],
            pl.UInt64: [0, 2**64 - 1, None],
            pl.Int128: [0, 2**100, None],
            pl.Float32: [0.5, None],
            pl.Float64: [*FLOATS, None],
            pl.Boolean: [True, False, None],
            pl.String: [*TEXTS, None],
            pl.Categorical: ["x", "7", None],
            pl.Enum(["x", "7"]): ["x", "7", None],
            pl.Decimal(20, 3): [Decimal("0.05"), Decimal("7"), None],
            pl.Date: [*DAYS, None],
            pl.Datetime("ms"): [dt.datetime(2020, 1, 1, 12), None],
            pl.Datetime("us"): [*MOMENTS, None],
            pl.Datetime("ns"): [*MOMENTS, None],
            pl.Datetime("us", "Europe/Rome"): [NOON.replace(tzinfo=ROME), None],
            pl.Duration("us"): [*SPANS, None],
            pl.Time: [*TIMES, None],
            pl.Null: [None, None],
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize(("make", "values"), IN_MEMORY.values(), ids=IN_MEMORY)
def test_rows_in_memory_are_read_by_themselves_and_as_what_they_are(make, values):
    meant = None
    if getattr(make, "func", None) is moments:
        meant = of_objects([value for (value,) in make(values)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_rows(make, values, meant)


def test_any_two_objects_are_read_as_each_alone():
    meant = of_objects(OBJECTS)
    for one, first in zip(OBJECTS, meant, strict=True):
        for other, second in zip(SOME, of_objects(SOME), strict=True):
            assert readings(column([one, other])) == [first, second]


def test_masked_values_are_missing():
    values = [(0.05, False), (1.5, True), (np.nan, False), (1e308, True)]
    meant = of_objects([0.05, None, None, None])
    check_rows(
        lambda rows: np.ma.array([[v] for v, _ in rows], mask=[[m] for _, m in rows]), values, meant
    )


REFUSED = [
    np.zeros((2, 1), [("x", "f8")]),
    np.zeros((2, 1), "S3"),
    np.zeros((2, 1), "m8[s]"),
    np.zeros((2, 1), complex),
    np.ma.array([["x"]], mask=[[True]]),
    np.zeros(2),
]


@pytest.mark.parametrize("data", REFUSED, ids=lambda data: str(data.dtype))
def test_arrays_of_types_without_a_meaning_are_refused_whatever_they_hold(data):
    with pytest.raises(DataError):
        open_rows(data, ["a"])


def runs(values):
    ends = pa.array(range(1, len(values) + 1), pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, pa.array(values, pa.int64()))


ARROW = {
    "int8": ([0, 7, None], pa.int8()),
    "uint64": ([0, 2**63, 2**64 - 1, None], pa.uint64()),
    "half": ([np.float16(0.1), None], pa.float16()),
    "float": ([0.5, None], pa.float32()),
    "double": ([*FLOATS, None], pa.float64()),
    "boolean": ([True, None], pa.bool_()),
    "string": ([*TEXTS, None], pa.string()),
    "large string": (TEXTS[:4], pa.large_string()),
    "string view": (["x", "7", "longer than what fits in place", None], pa.string_view()),
    "dictionary": (["x", None, "7"], pa.dictionary(pa.int8(), pa.string())),
    "dictionary of integers": ([1, None, 7], pa.dictionary(pa.int32(), pa.int64())),
    "decimal32": ([Decimal("0.05"), None], pa.decimal32(9, 2)),
    "decimal64": ([Decimal("0.05"), Decimal("7"), None], pa.decimal64(18, 2)),
    "decimal128": ([*DECIMALS, None], pa.decimal128(38, 12)),
    "decimal256": ([*DECIMALS, Decimal(10**40), None], pa.decimal256(76, 30)),
    "date32": ([*DAYS, None], pa.date32()),
    "date64": ([*DAYS, None], pa.date64()),
    "time32[s]": ([*TIMES, None], pa.time32("s")),
    "time64[ns]": ([*TIMES, None], pa.time64("ns")),
    "timestamp[s]": ([EARLY, dt.datetime(9999, 12, 31), None], pa.timestamp("s")),
    "timestamp[ms]": ([EARLY, None], pa.timestamp("ms")),
    "timestamp[us]": ([*MOMENTS, None], pa.timestamp("us")),
    "timestamp[ns]": ([*MOMENTS, None], pa.timestamp("ns")),
    "timestamp with a zone": ([*ZONED, None], pa.timestamp("us", "Asia/Kolkata")),
    "duration[ms]": ([dt.timedelta(hours=1), None], pa.duration("ms")),
    "duration[us]": ([*SPANS, None], pa.duration("us")),
    "binary": ([b"x", None], pa.binary()),
    "lists": ([[1], None], pa.list_(pa.int64())),
    "structs": ([{"x": 1}, None], pa.struct({"x": pa.int64()})),
    "nothing": ([None, None], pa.null()),
}
HOLDERS = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "stream": lambda table: table.to_reader(max_chunksize=2),
    "chunks": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}
NOT_PANDAS = ("decimal32", "decimal64", "time32[s]", "string view")


def arrow(kind, values):
    return pa.table({"a": pa.array(values, kind)})


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", ARROW)
def test_arrow_columns_are_read_by_themselves_and_as_what_they_are(holder, name):
    values, kind = ARROW[name]
    if holder == "pandas" and name in NOT_PANDAS:
        pytest.skip("pandas does not show such a column")
    check_rows(lambda rows: HOLDERS[holder](arrow(kind, rows)), values)


def test_runs_are_read_as_the_values_that_they_stand_for():
    check_rows(lambda rows: pa.table({"a": runs(rows)}), [1, 7, None])


FAR_AWAY = {
    "date64": pa.date64(),
    "timestamp[s]": pa.timestamp("s"),
    "timestamp[ns]": pa.timestamp("ns"),
    "duration[s]": pa.duration("s"),
}


@pytest.mark.parametrize("holder", ["table", "stream"])
@pytest.mark.parametrize("kind", FAR_AWAY.values(), ids=FAR_AWAY)
def test_times_further_away_than_any_calendar_change_no_other_row(holder, kind):
    def make(ticks):
        return HOLDERS[holder](pa.table({"a": pa.array(ticks, pa.int64()).view(kind)}))

    ticks = [0, 86_400_000, 2**62, -(2**62), 2**63 - 1, 5, -5, None]
    check_rows(make, ticks, [readings(make([tick]))[0] for tick in ticks])


def test_a_day_of_milliseconds_is_the_day_that_it_lies_in():
    ticks = pa.array([5, -5, 86_400_000 - 1, -86_400_000, -86_400_001], pa.int64())
    days = [row[3][0] for row in readings(pa.table({"a": ticks.view(pa.date64())}))]
    assert [float.fromhex(day) for day in days] == [0, -1, 0, -1, -2]


# Files

FILES = {
    "parquet": pq.write_table,
    "arrow": lambda table, path: _write(pa.ipc.new_file, table, path),
    "feather": lambda table, path: _write(pa.ipc.new_stream, table, path),
}


def _write(new, table, path):
    with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize("name", sorted({*ARROW} - {"string view", "structs", "timestamp[s]"}))
def test_files_of_typed_columns(suffix, name, tmp_path):
    values, kind = ARROW[name]
    path = tmp_path / f"a.{suffix}"

    def make(rows):
        FILES[suffix](arrow(kind, rows), path)
        return path

    meant = of_objects(values)
    for block_rows in (None, 1):
        assert readings(make(values), block_rows) == meant
    assert readings(make(values[::-1])) == meant[::-1]
    assert readings(make(values[:1])) == meant[:1]


LAZY = [name for name in IN_MEMORY if name.startswith("polars ") and "Object" not in name]


@pytest.mark.parametrize("name", [name for name in LAZY if "Int128" not in name])
def test_lazy_frames(name):
    make, values = IN_MEMORY[name]
    meant = of_objects(values)
    assert readings(make(values).lazy()) == meant
    assert readings(make(values[::-1]).lazy(), 2) == meant[::-1]


SPELLINGS = [
    *("1", "1.0", " 1", "1e3", "0.1", "0.10000000000000000555", "-0", "+.5", "3.", "1_0", "x", "7"),
    *("9007199254740993", "9223372036854775808", "1e400", "1e-9999", "inf", "0x10", "NA", "N/A"),
    *("nan", "NAN", "true", "T", "a,b", 'say "x"', "2\n3", "2\r\n\r\n3", "1,5", "1.5", "24:00"),
    *("2020-02-29", "2021-02-29", "2020-01-01T12:00:00+05:30", "1:30:00", "P1DT2H", "ä"),
]  # fmt: skip


def written(folder, values, *, encoding="utf-8", delimiter=",", quote='"'):
    path = folder / "a.csv"
    with open(path, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter, quotechar=quote, quoting=csv.QUOTE_ALL)
        writer.writerows([["a", "b"], *([value, "z"] for value in values)])
    return path


DIALECTS = {
    "usual": {},
    "latin": {"encoding": "latin-1"},
    "UTF-16": {"encoding": "utf-16"},
    "UTF-8 with a mark": {"encoding": "utf-8-sig"},
    "semicolons": {"delimiter": ";"},
    "tabs": {"delimiter": "\t"},
    "single quotes": {"quote": "'"},
}


@pytest.mark.parametrize("options", DIALECTS.values(), ids=DIALECTS)
def test_fields_of_csv_files(options, tmp_path):
    meant, dialect = of_fields(SPELLINGS), Csv(**options)
    check_rows(
        lambda v: written(tmp_path, v, **options), SPELLINGS, meant, csv=dialect, ignore=["b"]
    )


def test_a_field_is_read_as_its_column_declares_whatever_stands_beside_it(tmp_path):
    texts = ["1,5", "1.5", "1.000,5", "x", "7", ",5", "1,5,5", "1.00,5", "12 kg", "kg 1.200,50"]
    texts += ["31.12.2024", "1.2.24", "29.02.2023", "2024/12", "ja", "nein", "J", "1 200.5 %", "NA"]
    texts += ["Dec 31, 24 6:30 PM", "may 1, 69 12:00 am", "1'200", "31.12.2024 18:30:05.5+0100"]
    make = partial(written, tmp_path, delimiter=";")
    check_rows(make, texts, of_fields(texts), csv=Csv(delimiter=";"), ignore=["b"])


BYTES = [
    b"x",
    b"7",
    b"\xff\xfe",
    b"",
    b"\xc3\xa4",
    b"2020-01-01",
    b"\xed\xa0\x80",
    b"true",
    b"\x00",
]


def test_bytes_that_are_no_text_are_foreign_by_themselves(tmp_path):
    def make(fields):
        path = tmp_path / "a.csv"
        path.write_bytes(b"a,b\n" + b"".join(field + b",\xff\n" for field in fields))
        return path

    unread = of_objects([b"no text"])[0]
    texts = of_fields(
        [None if field == b"" else field.decode("utf-8", "ignore") for field in BYTES]
    )
    meant = [unread if place in (2, 6) else text for place, text in enumerate(texts)]
    check_rows(make, BYTES, meant, ignore=["b"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_of_folders_are_fields(suffix, tmp_path):
    names = ["7", "x", "0.5", "true", "NA", "2020-01-01", "__HIVE_DEFAULT_PARTITION__", "a%20b"]
    write = {"csv": lambda table, path: path.write_text("b\n1\n"), "parquet": pq.write_table}[
        suffix
    ]
    for name in names:
        folder = tmp_path / f"a={name}"
        folder.mkdir()
        write(pa.table({"b": [1]}), folder / f"x.{suffix}")
    meant = dict(zip(names, of_fields([*names[:6], None, "a b"]), strict=True))
    together = readings(tmp_path, ignore=["b"])
    assert sorted(map(str, together)) == sorted(map(str, meant.values()))
    for name in names[:4]:
        assert readings([str(tmp_path), str(tmp_path)], 1, ignore=["b"]).count(meant[name]) == 2
