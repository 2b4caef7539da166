"""Where rows come from: patterns, several files, standard input, and CSV as it is written."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Box, Categories, Schema
from privclust.data.encode import writings_of
from privclust.exceptions import DataError
from privclust.reading.declared import open_declared
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from support.blocks import block_numbers, block_values

TWO = Schema({"x": Box(0, 10), "y": Box(0, 10)})
TABLE = pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
ROWS = [[1.0, 3.0], [2.0, 4.0]]


def numbers(data, schema=TWO, **options):
    with open_declared(data, schema, **options) as source:
        writings = writings_of(schema)
        read = partial(block_numbers, writings=writings)
        twice = [[read(block) for block in source.blocks()] for _ in range(2)]
    first, second = map(np.concatenate, twice)
    np.testing.assert_array_equal(first, second)
    return first.tolist()


def refused(part, data, schema=TWO):
    with pytest.raises(DataError) as caught:
        numbers(data, schema)
    message = str(caught.value)
    assert part in message
    assert message.endswith(".")
    assert "; " in message


def as_bytes(form):
    sink = io.BytesIO()
    if form == "parquet":
        pq.write_table(TABLE, sink)
    elif form == "arrow file":
        with pa.ipc.new_file(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif form == "arrow stream":
        with pa.ipc.new_stream(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    else:
        text = b"\xef\xbb\xbfx;y\n1;3\n2;4\n"
        sink.write(gzip.compress(text) if form == "csv.gz" else text)
    return sink.getvalue()


FORMATS = ["parquet", "arrow file", "arrow stream", "csv", "csv.gz"]


@pytest.mark.parametrize("form", FORMATS)
def test_standard_input_is_read_in_every_format_as_often_as_needed(form, monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(as_bytes(form)), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert numbers("-") == ROWS


@pytest.mark.parametrize("form", FORMATS)
def test_an_open_file_is_read_like_standard_input(form):
    assert numbers(io.BytesIO(as_bytes(form))) == ROWS


def test_a_stream_of_many_megabytes_is_kept_to_its_end():
    values = np.arange(400_000) % 100 / 10
    text = "x,y\n" + "".join(f"{value},{value}\n" for value in values)
    assert len(text) > 3 * 2**20
    rows = np.array(numbers(io.BytesIO(text.encode())))
    np.testing.assert_array_equal(rows, np.column_stack([values, values]))


def test_a_terminal_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(), isatty=lambda: True))
    refused("Standard input is empty", "-")


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.bz2", "arrow", "feather", "pq"])
def test_suffixes(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    text = b"x,y\n1,3\n2,4\n"
    content = {"gz": gzip.compress(text), "bz2": bz2.compress(text), "pq": as_bytes("parquet")}
    path.write_bytes(content.get(suffix.split(".")[-1], as_bytes("arrow file")))
    assert numbers(path) == ROWS


def test_a_pattern_stands_for_files_sorted_by_name(tmp_path):
    for name, text in (("b", "x,y\n2,4\n"), ("a", "y,x\n3,1\n")):
        (tmp_path / f"visits-{name}.csv").write_text(text)
    (tmp_path / "other.csv").write_text("z\n1\n")
    assert numbers(str(tmp_path / "visits-*.csv")) == ROWS
    assert numbers([tmp_path / "visits-b.csv", tmp_path / "visits-a.csv"]) == ROWS[::-1]
    refused("No file matches", tmp_path / "absent-*.csv")


def test_a_name_that_looks_like_a_pattern_is_a_name_if_the_file_exists(tmp_path):
    (tmp_path / "x[1].csv").write_text("x,y\n1,3\n2,4\n")
    assert numbers(tmp_path / "x[1].csv") == ROWS


def test_paths_that_no_system_takes_are_not_found():
    refused("was not found", "x\0.csv")
    refused("was not found", "x" * 5000 + ".csv")


def test_files_of_other_layouts_types_and_formats_are_refused_before_a_row_is_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["text"], "y": [1]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="Column 'x' holds text where numbers are declared"):
        open_declared(str(tmp_path / "*.parquet"), TWO)
    (tmp_path / "c.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="of different formats"):
        open_declared(str(tmp_path / "*.*"), TWO)
    (tmp_path / "d.csv").write_text("x,z\n1,2\n")
    with pytest.raises(DataError, match="has columns other than"):
        open_declared(str(tmp_path / "*.csv"), TWO)


class TestDialects:
    def read(self, tmp_path, content, schema=TWO, suffix="csv"):
        path = tmp_path / f"x.{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return numbers(path, schema)

    @pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("suffix", ["csv", "tsv"])
    def test_the_delimiter_is_the_one_that_cuts_the_header(self, tmp_path, mark, suffix):
        text = f"x{mark}y\n1{mark}3\n2{mark}4\n"
        assert self.read(tmp_path, text, suffix=suffix) == ROWS

    def test_the_rows_have_no_say_about_the_delimiter(self, tmp_path):
        schema = Schema({"x,y": Categories(["1,3"])})
        (tmp_path / "x.csv").write_text("x,y;z\n1,3;5\n")
        source = open_declared(tmp_path / "x.csv", schema, ignore=["z"])
        assert block_values(next(source.blocks()), "x,y", "text").to_pylist() == ["1,3"]

    def test_the_id_column_counts_for_the_header(self, tmp_path):
        (tmp_path / "x.csv").write_text("x;id\n1;7\n")
        source = open_declared(tmp_path / "x.csv", Schema({"x": Box(0, 1)}), id_column="id")
        assert next(source.blocks()).column("id").array.to_pylist() == ["7"]

    def test_one_column_needs_no_delimiter(self, tmp_path):
        assert self.read(tmp_path, "x\n1\n2\n", Schema({"x": Box(0, 1)})) == [[1.0], [2.0]]

    def test_a_declared_delimiter_is_not_second_guessed(self, tmp_path):
        schema = Schema(TWO.columns, csv=Csv(delimiter="|"))
        with pytest.raises(DataError, match="declared in the schema but absent"):
            self.read(tmp_path, "x,y\n1,2\n", schema)

    def test_a_decimal_comma_and_nothing_else(self, tmp_path):
        schema = Schema(TWO.columns, csv=Csv(decimal=","))
        assert self.read(tmp_path, "x;y\n1,5;3\n2;-4,25e1\n", schema) == [[1.5, 3], [2, -42.5]]
        with pytest.raises(DataError, match="Column 'x' holds text where numbers"):
            self.read(tmp_path, "x;y\n1.5;3\n", schema)
        with pytest.raises(DataError, match="Column 'x' holds text where numbers"):
            self.read(tmp_path, "x;y\n1.000,5;3\n", schema)

    def test_a_decimal_comma_leaves_text_alone(self, tmp_path):
        (tmp_path / "x.csv").write_text("c;x\na,b.c;1,5\n")
        schema = Schema({"c": Categories(["a,b.c"]), "x": Box(0, 1)}, csv=Csv(decimal=","))
        block = next(open_declared(tmp_path / "x.csv", schema).blocks())
        assert block_values(block, "c", "text").to_pylist() == ["a,b.c"]
        assert block_numbers(block, ["x"], writings=writings_of(schema)).tolist() == [[1.5]]

    @pytest.mark.parametrize(
        ("encoding", "stored"),
        [
            ("latin-1", "latin-1"),
            ("cp1252", "cp1252"),
            ("utf-16", "utf-16"),
            (None, "utf-16"),
            (None, "utf-8-sig"),
            ("utf-8", "utf-8-sig"),
        ],
    )
    def test_encodings(self, tmp_path, encoding, stored):
        (tmp_path / "x.csv").write_bytes("größe;x\nßü;1\n".encode(stored))
        schema = Schema({"größe": Categories(["ßü"]), "x": Box(0, 1)}, csv=Csv(encoding=encoding))
        block = next(open_declared(tmp_path / "x.csv", schema).blocks())
        assert block_values(block, "größe", "text").to_pylist() == ["ßü"]

    def test_a_wrong_encoding_is_one_sentence(self, tmp_path):
        (tmp_path / "x.csv").write_bytes("x\n1\n".encode("utf-16"))
        for encoding in ("ascii", "utf-8"):
            schema = Schema({"x": Box(0, 1)}, csv=Csv(encoding=encoding))
            refused("check that it is", tmp_path / "x.csv", schema)

    def test_quotes(self, tmp_path):
        single = Schema({"x": Categories(["a;b"]), "y": Box(0, 1)}, csv=Csv(quote="'"))
        (tmp_path / "x.csv").write_text("x;y\n'a;b';1\n")
        block = next(open_declared(tmp_path / "x.csv", single).blocks())
        assert block_values(block, "x", "text").to_pylist() == ["a;b"]
        none = Schema({"x": Categories(["'a"]), "y": Box(0, 1)}, csv=Csv(quote=""))
        (tmp_path / "x.csv").write_text("x;y\n'a;1\n\"a;2\n")
        block = next(open_declared(tmp_path / "x.csv", none).blocks())
        assert block_values(block, "x", "text").to_pylist() == ["'a", '"a']

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.booleans())
    def test_each_number_is_read_by_itself(self, values, comma):
        schema = Schema({"x": Box(0, 1)}, csv=Csv(decimal="," if comma else "."))

        def read(part):
            text = "x\n" + "".join(f"{value!r}\n" for value in part)
            text = text.replace(".", ",") if comma else text
            return numbers(io.BytesIO(text.encode()), schema)

        assert read(values) == [read([value])[0] for value in values]


def test_opening_without_a_schema_goes_by_the_header_alone(tmp_path):
    (tmp_path / "x.csv").write_text("x;y\n1,2,3;4,5,6\n")
    assert open_rows(tmp_path / "x.csv").names == ("x", "y")
    (tmp_path / "x.csv").write_text("x;y,z\n1;2,3\n")
    assert open_rows(tmp_path / "x.csv").names == ("x;y", "z")
