"""Loaders answer any input with a result or with one sentence, never with a traceback.

A few inputs each in every run; ``PRIVCLUST_FUZZ=10000`` tries so many, as ``make fuzz`` does.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privclust import Bins, Box, Categories, PrivateKMeans, Schema
from privclust.exceptions import DataError, ReleaseError, SchemaError
from privclust.release import Release
from privclust.schema import Csv

FUZZ = settings(
    max_examples=int(os.environ.get("PRIVCLUST_FUZZ", "40")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

SCHEMA = Schema(
    {
        "x": Box(0, 10),
        "day": Box("2020-01-01", "2021-01-01", missing="2020-06-01"),
        "n": Bins([0, 1, 2], missing="category"),
        "c": Categories(["a", "b"], unknown="other"),
    },
    ignore=["z"],
    csv=Csv(decimal=","),
    note="note",
)
TABLE = pa.table(
    {
        "x": [1.5, None, 3.0],
        "day": ["2020-02-01", "x", None],
        "n": [1, 2, None],
        "c": ["a", "b", "q"],
        "z": [1, 2, 3],
    }
)
CSV = "x;day;n;c;z\n1,5;2020-02-01;1;a;1\n;x;2;b;\n3;;;q;'\n"


# What breaks parsers, and what the loaders themselves look for.
WORDS = [
    *('"', "'", "[", "]", "\n", "=", "{}", "-", ".", "\x00", "\ud7ff", "[" * 200, "9" * 400),
    *("nan", "inf", "1e999", "0x", "true", "2020-01-01", "date", "hours", "error", "category"),
    *("low", "high", "form", "missing", "edges", "values", "unknown"),
    *("columns", "ball", "csv", "ignore", "note", "delimiter", "decimal", "encoding", "quote"),
]


def one_sentence(error: Exception) -> None:
    message = str(error)
    assert message.endswith((".", '."')), message
    assert "\nTraceback" not in message


@st.composite
def mutated(draw, originals):
    """Bytes of a good file, some of them overwritten, cut out, doubled or put elsewhere."""
    content = bytearray(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(0, 12)))
        new = draw(st.one_of(st.binary(max_size=8), st.just(bytes(content[start:stop]) * 2)))
        content[start:stop] = new
    return bytes(content)


@st.composite
def mutated_text(draw, originals):
    words = st.sampled_from(WORDS)
    text = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.one_of(words, st.text(max_size=4))) + text[stop:]
    return text


def files() -> dict[str, bytes]:
    parquet, indexed, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pq.write_table(TABLE, parquet)
    with pa.ipc.new_file(indexed, TABLE.schema) as writer:
        writer.write_table(TABLE)
    with pa.ipc.new_stream(stream, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return {
        "parquet": parquet.getvalue(),
        "arrow": indexed.getvalue(),
        "stream": stream.getvalue(),
        "csv": CSV.encode(),
        "utf16": CSV.encode("utf-16"),
    }


FILES = files()


@FUZZ
@given(mutated_text([SCHEMA.to_toml()]))
def test_any_toml_is_a_schema_or_one_sentence(text):
    try:
        schema = Schema.from_toml(text)
    except SchemaError as error:
        one_sentence(error)
    else:
        assert Schema.from_toml(schema.to_toml()) == schema


@FUZZ
@given(mutated_text([SCHEMA.to_json()]))
def test_any_json_is_a_schema_or_one_sentence(text):
    try:
        schema = Schema.from_json(text)
    except SchemaError as error:
        one_sentence(error)
    else:
        assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize("form", list(FILES))
def test_any_file_is_read_or_one_sentence(form):
    @FUZZ
    @given(mutated([FILES[form]]))
    def attempt(content):
        try:
            SCHEMA.check(io.BytesIO(content))
        except DataError as error:
            one_sentence(error)

    attempt()


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> dict[str, bytes]:
    rows = np.linspace(0, 1, 60).reshape(-1, 2)
    made = PrivateKMeans(2, bounds=(0, 1), random_state=0).fit(rows).release()
    folder = tmp_path_factory.mktemp("release")
    made.save(folder / "made")
    made.save(folder / "made.privclust")
    inside = {file.name: file.read_bytes() for file in (folder / "made").iterdir()}
    return {**inside, "made.privclust": (folder / "made.privclust").read_bytes()}


@pytest.mark.parametrize("part", ["release.json", "arrays.npz", "made.privclust", "zipped"])
def test_any_release_is_loaded_or_one_sentence(part, release, tmp_path):
    original = release["release.json" if part == "zipped" else part]

    @FUZZ
    @given(mutated([original]))
    def attempt(content):
        try:
            Release.load(written(part, content, release, tmp_path))
        except ReleaseError as error:
            one_sentence(error)

    attempt()


def written(part: str, content: bytes, release: dict[str, bytes], folder: Path) -> Path:
    """Write a release with one part replaced."""
    if part == "made.privclust":
        (folder / part).write_bytes(content)
        return folder / part
    if part == "zipped":
        with zipfile.ZipFile(folder / "z.privclust", "w") as archive:
            archive.writestr("release.json", content)
            archive.writestr("arrays.npz", release["arrays.npz"])
        return folder / "z.privclust"
    place = folder / "release"
    place.mkdir(exist_ok=True)
    for name in ("release.json", "arrays.npz"):
        (place / name).write_bytes(content if name == part else release[name])
    return place
