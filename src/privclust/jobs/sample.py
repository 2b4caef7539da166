"""Synthetic rows of a summary, written as a file with the declared types.

A CSV file is written as the schema says that such files are, so that what reads the rows reads
these: its delimiter, encoding, decimal marks, and formats of dates. Marks of thousands, units and
words for yes and no may always be left out, and are.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from privclust.clustering.answers import Summary
from privclust.clustering.from_cells import as_table
from privclust.jobs import output_paths as places
from privclust.release.release import Release
from privclust.schema.dialect import Csv
from privclust.schema.schema import Schema
from privclust.schema.writing import Writing

SUFFIXES = (".csv", ".parquet")


def write_synthetic_rows(release: Release, n_rows: int, output: Path) -> tuple[str, ...]:
    """Write rows to a file that ends in one of ``SUFFIXES``; return how far to trust them."""
    summary = Summary(release)
    table = summary.sample(n_rows)
    if not isinstance(table, pa.Table):
        columns = dict(zip(release.schema.numeric, table.T, strict=True))
        table = as_table(release.schema, columns, np.random.default_rng())
    with places.replace_atomically(output) as temporary:
        if output.suffix.lower() == ".parquet":
            pq.write_table(table, temporary)
        else:
            _write_csv(table, release.schema, temporary)
    return summary.sample_notes()


def _write_csv(table: pa.Table, schema: Schema, path: Path) -> None:
    """Write a table as files of a schema are written."""
    dialect, decimals = schema.csv, {schema.writing_rule(name).decimal for name in schema.names}
    columns = {name: _as_text(table[name], schema.writing_rule(name)) for name in schema.names}
    with_comma = dialect.decimal == "," or "," in decimals
    options = pyarrow.csv.WriteOptions(
        delimiter=dialect.delimiter or (";" if with_comma else ","),
        quoting_style="needed" if dialect.quote == Csv().quote else "none",
    )
    pyarrow.csv.write_csv(pa.table(columns), path, options)
    if dialect.encoding is not None:
        written = path.read_text(encoding="utf-8")
        path.write_bytes(written.encode(dialect.encoding, errors="replace"))


def _as_text(values: pa.ChunkedArray, rule: Writing) -> pa.ChunkedArray:
    """Return a column whose texts are as declared; as it is if that is the usual way."""
    if pa.types.is_duration(values.type):
        texts = [None if ms is None else _clock(ms) for ms in values.cast(pa.int64()).to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if rule.format is not None:
        texts = [None if day is None else _moment(day, rule.format) for day in values.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if rule.decimal != "." and pa.types.is_floating(values.type):
        return pc.replace_substring(values.cast(pa.string()), ".", rule.decimal)
    return values


def _clock(milliseconds: int) -> str:
    """Return a duration as on a clock, such as 1:30:00.000."""
    seconds, rest = divmod(abs(milliseconds), 1000)
    hours, minutes = divmod(seconds // 60, 60)
    return f"{'-' * (milliseconds < 0)}{hours}:{minutes:02d}:{seconds % 60:02d}.{rest:03d}"


def _moment(day: date, format: str) -> str:
    """Return a date or a moment in a format; years have four digits."""
    year = f"{day.year:04d}"
    pieces = re.sub("%(.)", lambda part: year if part[1] == "Y" else part[0], format)
    return (day.replace(tzinfo=UTC) if isinstance(day, datetime) else day).strftime(pieces)
