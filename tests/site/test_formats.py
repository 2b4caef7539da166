"""The reference of the file formats leaves nothing out: it is compared with the code."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from privclust import Ball, Bins, Box, Categories, Schema
from privclust.ledger.chain import Entry
from privclust.ledger.store import VERSION as LEDGER_VERSION
from privclust.release import document
from privclust.release.document import About
from privclust.release.kinds import all_kinds
from privclust.schema.dialect import Csv
from privclust.schema.forms import Form

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SCHEMA, RELEASE, LEDGER = (
    (REFERENCE / f"{name}.md").read_text("utf-8")
    for name in ("schema-format", "release-format", "ledger-schema")
)
TOML = re.findall(r"^```toml\n(.*?)^```", SCHEMA, re.MULTILINE | re.DOTALL)


def section(text: str, title: str) -> str:
    """Return the part of a page below a heading, up to the next one of its rank or above."""
    start = re.search(rf"^(#+) {title}", text, re.MULTILINE)
    assert start is not None, title
    rest = text[start.end() :]
    end = re.search(rf"^#{{1,{len(start[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


@pytest.mark.parametrize(
    ("fact", "title"),
    [(Box, "Box"), (Bins, "Bins"), (Categories, "Categories"), (Ball, "Ball"), (Csv, "CSV")],
)
def test_every_key_of_a_fact_is_listed_and_has_an_example(fact, title):
    told = section(SCHEMA, title)
    keys = [field.name for field in fields(fact)]
    assert [key for key in keys if f"`{key}`" not in told] == []
    # A form of bins is written as that of a box.
    shown = keys if fact not in (Bins,) else ["edges", "missing"]
    assert [key for key in shown if not re.search(rf"^{key} = ", told, re.MULTILINE)] == []


def test_every_form_and_every_key_of_the_file_is_listed():
    assert [form for form in get_args(Form) if f'`"{form}"`' not in SCHEMA] == []
    keys = ("columns", "ignore", "ball", "csv", "note")
    assert [key for key in keys if f"`{key}`" not in section(SCHEMA, "The file")] == []


def test_the_examples_of_the_schema_format_are_schemas():
    columns = [text for text in TOML if "[columns." in text]
    for text in columns:
        assert len(Schema.from_toml(text)) == len(tomllib.loads(text)["columns"])
    boxes = "[columns.x]\nlow = 0\nhigh = 99\n[columns.y]\nlow = 0\nhigh = 99\n"
    others = [text for text in TOML if "[columns." not in text]
    schemas = [Schema.from_toml(boxes + text) for text in others]
    assert len(schemas) == 2
    assert any(schema.ball for schema in schemas)
    assert any(schema.csv.delimiter == ";" for schema in schemas)


def test_every_key_of_a_release_is_listed():
    top = {"format", "format_version", "about", *document._KEYS}
    privacy = {"flaws", *document._PRIVACY_KEYS, *document._QUERY_KEYS}
    about = {field.name for field in fields(About)}
    named = set(re.findall(r"`(\w+)`", RELEASE))
    assert top | privacy | about <= named
    assert f"| `format_version` | {document.VERSION} |" in RELEASE


def test_every_kind_of_release_is_listed_with_its_arrays():
    told = section(RELEASE, "Kinds and their arrays")
    for kind in all_kinds().values():
        (line,) = [line for line in told.splitlines() if line.startswith(f"| `{kind.name}` |")]
        must = line.partition("[")[0]
        for array, axes in kind.arrays.items():
            shape = ", ".join("1" if axis == "one" else axis for axis in axes)
            assert f"`{array}` ({shape})" in must


def test_every_column_of_a_ledger_is_listed():
    named = set(re.findall(r"`(\w+)`", section(LEDGER, "privclust_entries")))
    assert {field.name for field in fields(Entry)} <= named
    assert f"Schema version {LEDGER_VERSION}" in LEDGER
