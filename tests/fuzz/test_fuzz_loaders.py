"""Loaders answer any input with a result or with one sentence, never with a traceback.

A few inputs each in every run; ``PRIVCLUST_FUZZ=10000`` tries so many, as ``make fuzz`` does.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import Bins, Box, Categories, PrivateKMeans, Schema
from privclust.exceptions import DataError, ReleaseError, SchemaError
from privclust.release.release import Release
from privclust.schema.dialect import Csv
from support.damage import as_one_sentence, attempts

SCHEMA = Schema(
    {
        "x": Box(0, 10),
        "day": Box("2020-01-01", "2021-01-01", missing="2020-06-01"),
        "n": Bins([0, 1, 2], missing="category"),
        "c": Categories(["a", "b"], unknown="other"),
    },
    csv=Csv(decimal=","),
    note="note",
)
TABLE = pa.table(
    {
        "x": [1.5, None, 86753.09],
        "day": ["2020-02-01", "ZXQJ-day", None],
        "n": [1, 86753, None],
        "c": ["a", "b", "ZXQJ-secret"],
        "z": ["ZXQJ-1", "ZXQJ-2", "ZXQJ-3"],
    }
)
HEADER = "x;day;n;c;z\n"
CSV = HEADER + "1,5;2020-02-01;1;a;ZXQJ-1\n;ZXQJ-day;86753;b;\n86753,09;;;ZXQJ-secret;'\n"
PRIVATE = ("8675", "ZXQJ")


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


@pytest.mark.parametrize("language", ["toml", "json"])
def test_any_text_is_a_schema_or_one_sentence(language):
    good = getattr(SCHEMA, f"to_{language}")()
    read = getattr(Schema, f"from_{language}")
    for content in attempts(good.encode()):
        try:
            schema = read(content.decode(errors="replace"))
        except SchemaError as error:
            as_one_sentence(error)
        else:
            assert read(getattr(schema, f"to_{language}")()) == schema


@pytest.mark.parametrize("language", ["toml", "json"])
def test_any_schema_file_is_loaded_or_one_sentence(language, tmp_path):
    path = tmp_path / f"x.{language}"
    for content in attempts(getattr(SCHEMA, f"to_{language}")().encode()):
        path.write_bytes(content)
        try:
            Schema.load(path)
        except SchemaError as error:
            as_one_sentence(error)


@pytest.mark.parametrize("form", list(FILES))
def test_any_file_is_read_or_one_sentence(form):
    for content in attempts(FILES[form]):
        try:
            SCHEMA.check(io.BytesIO(content), id_column="z")
        except DataError as error:
            # What the damage puts into the first line of a CSV file are names of columns.
            text = content.decode("utf-16" if form == "utf16" else "utf-8", errors="replace")
            named = form in ("csv", "utf16") and not text.startswith(HEADER)
            as_one_sentence(error, () if named else PRIVATE)


@pytest.mark.parametrize(
    "text",
    [
        'x,y,"z\n86753,1,2\n86754,2,3\n',  # a quote that is not closed
        "86753,86753\n1,2\n",  # no header
        '"x\n86753",y\n1,2\n',
    ],
)
def test_a_header_that_went_wrong_does_not_quote_rows(text):
    schema = Schema({"x": Box(0, 10), "y": Box(0, 10)})
    with pytest.raises(DataError) as told:
        schema.check(io.BytesIO(text.encode()))
    as_one_sentence(told.value, ("8675",))


@pytest.mark.parametrize(
    "text", ["86753,y\n1,2\n", "8675,8675\n1,2\n", "ZXQJ,ZXQJ\n1,2\n", "ZXQJ,\n1,\n"]
)
def test_a_first_row_does_not_become_the_names_of_columns(text, tmp_path):
    """Without a schema the names would be published; the error does not quote them either."""
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(DataError, match="first line") as told:
        PrivateKMeans(1, bounds=(0, 10)).fit(path)
    as_one_sentence(told.value, PRIVATE)


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
    for content in attempts(original):
        try:
            Release.load(written(part, content, release, tmp_path))
        except ReleaseError as error:
            as_one_sentence(error)


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
