"""What every line of the table makes of each row of a source, alone and beside others."""

from __future__ import annotations

from typing import Any, get_args

import pyarrow as pa

from privclust.data.columns.kinds import TypedColumn, to_cells
from privclust.data.columns.table import IDS, category_line, number_line
from privclust.reading.opening import open_rows
from privclust.schema.forms import Form
from privclust.schema.writing import Writing

LINES = {
    **{form: number_line(Writing(form)) for form in get_args(Form)},
    **{
        f"{kind} category": category_line(kind, Writing())
        for kind in ("text", "integer", "boolean")
    },
    **{f"id as {kind}": line for kind, line in IDS.items()},
}
# Columns that declare how they are written.
WRITINGS = {
    "1.200,50 kg": Writing(decimal=",", thousands=".", unit="kg", true=("ja",), false=("nein",)),
    "1 200.50 %": Writing("text", thousands=" ", unit="%"),
    "1'200": Writing("integer", thousands="'"),
    "31.12.2024": Writing("date", "%d.%m.%Y"),
    "Dec 31, 24 6:30 PM": Writing("time", "%b %d, %y %I:%M %p"),
    "2024/12": Writing("date", "%Y/%m"),
    "31.12.2024 18:30:05.5+0100": Writing("time", "%d.%m.%Y %H:%M:%S.%f%z"),
}
YES_OR_NO = category_line("boolean", Writing(true=("ja", "J"), false=("nein", "N")))
EVERY_LINE = {
    **LINES,
    **{name: number_line(writing) for name, writing in WRITINGS.items()},
    "ja or nein": YES_OR_NO,
}


def read_by(line, column):
    """Return what a line makes of each value: itself, to the bit, and whether it is foreign."""
    read = line.read(column)
    assert len(read.values) == len(read.foreign) == len(column)
    return [(_exact(v), f) for v, f in zip(read.values.to_pylist(), read.foreign, strict=True)]


def _exact(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value.hex()
    return value


def readings_of(column):
    """Return for each value of a column what every line makes of it."""
    return list(zip(*(read_by(line, column) for line in EVERY_LINE.values()), strict=True))


def readings(data, block_rows=None, **options):
    """Return for each row of a source what every line makes of its value of column "a"."""
    with open_rows(data, ["a"], block_rows=block_rows, **options) as source:
        return [row for block in source.blocks() for row in readings_of(block.column("a"))]


def of_objects(values):
    """Return what every line makes of Python values, each in a column of its own."""
    return [readings_of(TypedColumn.of(to_cells([value])))[0] for value in values]


def of_fields(texts):
    """Return what every line makes of fields of a source without types, each by itself."""
    return [
        readings_of(TypedColumn("field", pa.array([text], pa.large_string())))[0] for text in texts
    ]


def check_rows(make, values, meant=None, **options):
    """Read rows together, in blocks of one and two, in any pairs and reversed: to the same bits.

    Parameters
    ----------
    make : callable
        Takes values and returns a source with a column "a" of them.
    values : list
    meant : list or None
        What every line makes of each value; that of the same Python values if not given.
    """
    meant = of_objects(values) if meant is None else meant
    for block_rows in (None, 1, 2):
        assert readings(make(values), block_rows, **options) == meant
    assert readings(make(values[::-1]), **options) == meant[::-1]
    for place, value in enumerate(values):
        assert readings(make([value]), **options) == [meant[place]]
        pair = [value, values[place - 1]]
        assert readings(make(pair), **options) == [meant[place], meant[place - 1]]
