"""Readers conserve rows: as many come out as there are records, in their order."""

from __future__ import annotations

import gzip
import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from privclust.data.columns.kinds import TypedColumn
from privclust.data.rows import Block, Selection
from privclust.exceptions import DataError, NoRowsError
from privclust.reading import csv_files, frames
from privclust.reading.frames import ArrowRows, rebatch
from privclust.reading.objects import plain_batch
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from support.readings import of_fields, of_objects, readings


def values(data, block_rows=None, **options):
    """Return column "a" of a source, block by block."""
    with open_rows(data, ["a"], block_rows=block_rows, **options) as source:
        return [block.column("a").decode().to_pylist() for block in source.blocks()]


def rows(data, block_rows=None, **options):
    """Return column "a" of a source."""
    return [value for block in values(data, block_rows, **options) for value in block]


def saved(path, content):
    path.write_bytes(content)
    return path


# Lines of CSV files

LINES = {
    b"a\n1\n2\n": ["1", "2"],
    b"a\n1\n2": ["1", "2"],
    b"a\r\n1\r\n2": ["1", "2"],
    b"a\r1\r2\r": ["1", "2"],
    b"a\n\n": [None],
    b"a\r\n\r\n": [None],
    b"a\n\n1\n\n\n2\n": [None, "1", None, None, "2"],
    b"a\n1\r\n\n\r2\r": ["1", None, None, "2"],
    b"\n\na\n1\n\n2": ["1", None, "2"],
    b"\r\n\r\na\r\n1\r\n\r\n2\r\n": ["1", None, "2"],
    b'a\n""\n\n"1\n\n2"\n': ["", None, "1\n\n2"],
    b"\xef\xbb\xbfa\n1\n\n": ["1", None],
    b"a\n \n1": [" ", "1"],
    b"a,b\n1,2\n\n3,4": ["1", "3"],
    b"a,b\n\n\n,\n1,\n": [None, "1"],
    b'a,b\n"1\n\n2",3\n,4\n': ["1\n\n2", None],
    b'\n"a",b\r\n"x ""y""",2\r\n': ['x "y"'],
}


@pytest.mark.parametrize("size", [8, 32, 2**22])
@pytest.mark.parametrize(("content", "expected"), LINES.items(), ids=lambda value: repr(value)[:40])
def test_every_record_of_a_csv_file_is_a_row(content, expected, size, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_CSV_BYTES", size)
    path = saved(tmp_path / "a.csv", content)
    for block_rows in (None, 1, 2):
        assert rows(path, block_rows, ignore=["b"]) == expected


def test_empty_lines_are_rows_in_folders_too(tmp_path):
    for name, content in {"x": b"a\n1\n\n2", "y": b"a\n\n"}.items():
        (tmp_path / f"b={name}").mkdir()
        saved(tmp_path / f"b={name}" / "a.csv", content)
    with open_rows(tmp_path, ["a", "b"]) as source:
        found = [block.column(name).array.to_pylist() for block in source.blocks() for name in "ab"]
    assert found == [["1", None, "2", None], ["x", "x", "x", "y"]]


@pytest.mark.parametrize("content", [b"a", b"a\n", b"\na\r\n"])
def test_a_header_alone_is_no_row(content, tmp_path):
    with open_rows(saved(tmp_path / "a.csv", content), ["a"]) as source:
        assert source.n_rows == 0
        with pytest.raises(NoRowsError):
            next(source.blocks())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("length", range(2**16 - 4, 2**16 + 2))
def test_a_header_of_any_length_ends_where_its_line_ends(length, end, tmp_path):
    names = b"a," + b"z" * (length - 2)
    assert rows(saved(tmp_path / "a.csv", names + end + b"1,2" + end), ignore=None) == ["1"]


LONG = [["1", "x"], ["2", "y" * 500], ["3", "z"], ["4", "y" * 5000], ["5", "\n" * 40], ["6", ""]]


@pytest.mark.parametrize("size", [16, 64, 1024])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_record_longer_than_what_is_parsed_together_is_one_row(
    size, encoding, tmp_path, monkeypatch
):
    monkeypatch.setattr(csv_files, "_CSV_BYTES", size)
    text = "b,a\n" + "".join(f'{number},"{text}"\n' for number, text in LONG)
    path = saved(tmp_path / "a.csv", text.encode(encoding))
    dialect = Csv(encoding=encoding)
    for block_rows in (None, 1, 2):
        assert rows(path, block_rows, csv=dialect, ignore=["b"]) == [text for _, text in LONG]


ENDS = ["x\r\ny", "\r\n", "\r\r\n\n", "\r", "\n"]


@pytest.mark.parametrize("form", ["utf-8", "utf-16", "gzip"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_value_is_the_same_wherever_it_stands_in_a_file(form, end, tmp_path, monkeypatch):
    """The marks of a line's end within quotes may fall into two parts of the file."""
    monkeypatch.setattr(csv_files, "_CSV_BYTES", 64)
    encoding = "utf-8" if form == "gzip" else form
    path = tmp_path / ("a.csv.gz" if form == "gzip" else "a.csv")
    for length in range(64):
        lines = [("z" * length, "first"), *zip("0123456789", ENDS * 2, strict=True)]
        text = end.join(["b,a", *(f'{number},"{value}"' for number, value in lines), ""])
        content = text.encode(encoding)
        saved(path, gzip.compress(content) if form == "gzip" else content)
        found = rows(path, csv=Csv(encoding=encoding), ignore=["b"])
        assert found == ["first", *ENDS * 2]


def test_a_record_beyond_all_limits_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_CSV_BYTES", 16)
    monkeypatch.setattr(csv_files, "_LONGEST_RECORD", 256)
    path = saved(tmp_path / "a.csv", b"a,b\n1,2\n" + b"z" * 100 + b",2\n")
    assert rows(path, ignore=["b"]) == ["1", "z" * 100]
    path = saved(tmp_path / "a.csv", b"a,b\n1,2\n" + b"z" * 5000 + b",2\n")
    with pytest.raises(DataError, match="cannot be read as a table"):
        rows(path, ignore=["b"])


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n3\n", b"a,b\n1,2\n3,4,5\n", b"a\n1,2\n", b'a,b\n"1,2']
)
def test_a_line_with_other_fields_than_the_header_is_refused(content, tmp_path):
    with pytest.raises(DataError, match="cannot be read as a table"):
        rows(saved(tmp_path / "a.csv", content), ignore=["b"])


ENCODED = {
    "utf-7": b"a,b\n+2AA-,1\n2,3\n",
    "utf-16": "a,b\n1,2\n".encode("utf-16") + b"\x00\xd8" + "3,ä\n".encode("utf-16-le"),
    "ascii": b"a,b\n\xff,1\n2,3\n",
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_bytes_that_an_encoding_does_not_know_end_no_reading(encoding, tmp_path):
    path = saved(tmp_path / "a.csv", ENCODED[encoding])
    assert len(rows(path, csv=Csv(encoding=encoding), ignore=["b"])) == 2


# Batches that are cut and joined

NUMBERS = list(range(7))


def parquet(numbers, path):
    pq.write_table(pa.table({"a": pa.array(numbers, pa.int64())}), path, row_group_size=2)
    return path


def arrow(numbers, path):
    table = pa.table({"a": pa.array(numbers, pa.int64())})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return path


READERS = {
    "lists": lambda n, path: [[v] for v in n],
    "array": lambda n, path: np.reshape(n, (-1, 1)),
    "sparse": lambda n, path: sparse.csr_array(np.reshape(n, (-1, 1))),
    "pandas": lambda n, path: pd.DataFrame({"a": n}),
    "polars": lambda n, path: pl.DataFrame({"a": n}),
    "LazyFrame": lambda n, path: pl.LazyFrame({"a": n}),
    "table": lambda n, path: pa.table({"a": n}),
    "chunks": lambda n, path: pa.concat_tables([pa.table({"a": [v]}) for v in n]),
    "stream": lambda n, path: pa.table({"a": n}).to_reader(max_chunksize=2),
    "parquet": lambda n, path: parquet(n, path / "a.parquet"),
    "arrow": lambda n, path: arrow(n, path / "a.arrow"),
    "csv": lambda n, path: saved(path / "a.csv", "\n".join(["a", *map(str, n)]).encode()),
    "binary": lambda n, path: io.BytesIO("\n".join(["a", *map(str, n)]).encode()),
}


@pytest.mark.parametrize("make", READERS.values(), ids=READERS)
def test_every_reader_gives_every_row_once_and_in_order(make, tmp_path):
    for length in range(1, 8):
        for block_rows in (None, 1, 2, 3, 7):
            found = values(make(NUMBERS[:length], tmp_path), block_rows)
            assert [int(v) for block in found for v in block] == NUMBERS[:length]
            assert all(len(block) == (block_rows or length) for block in found[:-1])


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


class Uncombined:
    """A table that stays in chunks, as Arrow's does where one array cannot hold them all."""

    @staticmethod
    def from_batches(batches):
        table = pa.Table.from_batches(batches)
        return SimpleNamespace(combine_chunks=lambda: table)


def test_all_of_what_arrow_cannot_join_is_read(monkeypatch):
    names = SimpleNamespace(Table=Uncombined, RecordBatch=pa.RecordBatch)
    monkeypatch.setattr(frames, "pa", names)
    parts = [batch(a=[1, 2]), batch(a=[3]), batch(a=[4, 5, 6])]
    found = [part.column("a").to_pylist() for part in rebatch(parts, 5)]
    assert found == [[1, 2], [3], [4, 5], [6]]


class Lossy(Uncombined):
    @staticmethod
    def from_batches(batches):
        table = pa.Table.from_batches(batches).slice(1)
        return SimpleNamespace(combine_chunks=lambda: table)


def test_a_join_that_loses_rows_is_refused(monkeypatch):
    monkeypatch.setattr(frames, "pa", SimpleNamespace(Table=Lossy, RecordBatch=pa.RecordBatch))
    with pytest.raises(DataError, match="lost"):
        list(rebatch([batch(a=[1, 2]), batch(a=[3])], 5))


TEXT = {
    "string": pa.array(["x"], pa.string()),
    "view": pa.array(["x"], pa.string_view()),
    "dictionary": pa.array(["x"]).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays([0], pa.array(["x"], pa.string_view())),
}


@pytest.mark.parametrize("array", TEXT.values(), ids=TEXT)
def test_text_is_joined_in_a_type_that_holds_any_length(array):
    joinable = plain_batch(pa.RecordBatch.from_arrays([array], ["a"]))
    assert joinable.column(0).type == pa.large_string()
    assert joinable.column(0).to_pylist() == ["x"]


def test_dictionaries_of_many_words_are_joined():
    kind = pa.dictionary(pa.int8(), pa.string())
    words = [[f"{half} {word}" for word in range(100)] for half in "xy"]
    chunks = [pa.array(half).dictionary_encode().cast(kind) for half in words]
    frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(pa.chunked_array(chunks))})
    assert rows(frame) == words[0] + words[1]
    assert rows(pa.table({"a": pa.chunked_array(chunks)}), 150) == words[0] + words[1]


def test_files_of_other_types_follow_each_other_row_by_row(tmp_path):
    columns = [[1, 2, 3], [0.5, None], ["7", "x"], [True], [4]]
    for number, column in enumerate(columns):
        pq.write_table(pa.table({"a": column}), tmp_path / f"{number}.parquet")
    meant = of_objects([value for column in columns for value in column])
    for block_rows in (None, 1, 2, 4):
        assert readings(tmp_path, block_rows) == meant


def test_files_with_and_without_odd_bytes_follow_each_other_row_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_CSV_BYTES", 8)
    saved(tmp_path / "1.csv", b"a\n1\n2\n\xff\n\n3\n4\n5\n")
    saved(tmp_path / "2.csv", b"a\n6\n")
    meant = of_fields(["1", "2", "", None, "3", "4", "5", "6"])
    meant[2] = of_objects([b"no text"])[0]
    for block_rows in (None, 1, 2, 4):
        assert readings(tmp_path, block_rows) == meant


# Numbers of rows that do not agree


def test_columns_of_different_lengths_are_no_block():
    columns = {"a": TypedColumn.of(pa.array([1, 2])), "b": TypedColumn.of(pa.array([1]))}
    with pytest.raises(DataError, match="differ in length"):
        Block(["a", "b"], columns)


@pytest.mark.parametrize("stated", [0, 2, 4])
def test_a_source_that_gives_another_number_of_rows_than_it_states_is_refused(stated):
    def read(size):
        return [batch(a=[1, 2]), batch(a=[3])]

    source = ArrowRows(read, Selection(("a",)), n_rows=stated, block_rows=None)
    with pytest.raises(DataError, match="changed"):
        list(source.blocks())
    exact = ArrowRows(read, Selection(("a",)), n_rows=3, block_rows=None)
    assert [len(block) for block in exact.blocks()] == [3]
