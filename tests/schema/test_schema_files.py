"""Schemas in files: exact round trips in all three forms, and what a bad file is told."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.exceptions import SchemaError
from privclust.schema.ball_fact import Ball
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema

numbers = st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-140)
pairs = st.lists(numbers, min_size=2, max_size=2, unique_by=lambda x: x + 0.0).map(sorted)
rules = st.sampled_from(["error", "category"])


@st.composite
def boxes(draw):
    low, high = draw(pairs)
    return Box(low, high, draw(st.sampled_from(["error", low, high])))


bins = st.builds(
    Bins, st.lists(numbers, min_size=2, max_size=4, unique_by=lambda x: x + 0.0).map(sorted), rules
)
values = st.one_of(
    st.lists(st.text(), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4, unique=True),
    st.just([True, False]),
)
categories = st.builds(Categories, values, rules, st.sampled_from(["error", "other"]))
names = st.text(min_size=1) | st.sampled_from(["a.b", "columns", "note", "x y", "ä", "\x7f", '"'])


@st.composite
def schemas(draw):
    facts = st.one_of(boxes(), bins, categories)
    columns = draw(st.dictionaries(names, facts, min_size=1, max_size=4))
    center = [fact.low for fact in columns.values() if isinstance(fact, Box)]
    ball = Ball(draw(st.floats(1e-100, 1e100)), center) if center and draw(st.booleans()) else None
    return Schema(columns, ball=ball, note=draw(st.text()))


@given(schemas())
def test_round_trips_are_exact(schema):
    assert Schema.from_dict(schema.to_dict()) == schema
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema.from_toml(schema.to_toml()) == schema
    # Equality does not tell -0.0 from 0.0 nor 1 from True; the printed form does.
    assert repr(Schema.from_json(schema.to_json())) == repr(schema)
    assert repr(Schema.from_toml(schema.to_toml())) == repr(schema)


@given(schemas())
def test_the_plain_form_is_the_same_in_both_languages(schema):
    assert json.loads(schema.to_json()) == schema.to_dict() == tomllib.loads(schema.to_toml())


SCHEMA = Schema(
    {"age": Box(0, 120, 40), "a b": Categories(["f", 'm"'], "category", "other")},
    ball=Ball(50, [60]),
    note="agreed with the board",
)


def test_toml_reads_well():
    assert SCHEMA.to_toml() == (
        "# agreed with the board\n"
        'note = "agreed with the board"\n\n'
        "[columns.age]\nlow = 0.0\nhigh = 120.0\nmissing = 40.0\n\n"
        '[columns."a b"]\nvalues = ["f", "m\\""]\nmissing = "category"\nunknown = "other"\n\n'
        "[ball]\nradius = 50.0\ncenter = [60.0]\n"
    )


def test_rules_may_be_left_out_and_integers_stand_for_floats():
    text = "[columns.age]\nlow = 0\nhigh = 120\n[columns.sex]\nvalues = ['f', 'm']\n"
    assert Schema.from_toml(text) == Schema({"age": Box(0, 120), "sex": Categories(["f", "m"])})


@pytest.mark.parametrize("suffix", ["json", "toml", "TOML"])
def test_files_round_trip(tmp_path, suffix):
    path = tmp_path / f"schema.{suffix}"
    SCHEMA.save(path)
    assert Schema.load(path) == SCHEMA == Schema.load(str(path))


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SCHEMA.to_toml().encode())
    assert Schema.load(path) == SCHEMA


def refused(call, part):
    with pytest.raises(SchemaError, match=part) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message
    assert "; " in message


BOX = {"low": 0, "high": 1}


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ([], "A table is needed as the schema"),
        ({}, "no table of columns"),
        ({"columns": [1]}, "no table of columns"),
        ({"columns": {}}, "at least one column"),
        ({"colums": {"a": BOX}}, "Unknown key 'colums' in the schema"),
        ({"columns": {"a": BOX}, "note": 3}, "note of a schema must be text"),
        ({"columns": {"a": 3}}, "Column 'a': a column needs a table"),
        ({"columns": {"a": {}}}, "Column 'a': a column needs one kind of fact"),
        ({"columns": {"a": {"categories": ["x"]}}}, "Column 'a': unknown key 'categories'"),
        ({"columns": {"a": {**BOX, "edges": [0, 1]}}}, "Column 'a': a column needs one kind"),
        ({"columns": {"a": {"low": 0}}}, "Column 'a': a Box needs both bounds"),
        ({"columns": {"a": {**BOX, "hihg": 3}}}, "Column 'a': unknown key 'hihg'"),
        ({"columns": {"a": {**BOX, "unknown": "other"}}}, "Column 'a': unknown key 'unknown'"),
        ({"columns": {"a": {"low": "0", "high": 1}}}, "Column 'a': a schema needs a number"),
        ({"columns": {"a": {"low": True, "high": 2}}}, "Column 'a': a schema needs a number"),
        ({"columns": {"a": {"low": 2, "high": 1}}}, "Column 'a': a Box needs low below high"),
        ({"columns": {"a": {**BOX, "missing": 7}}}, "Column 'a': missing=7.0 lies outside"),
        ({"columns": {"a": {"edges": 3}}}, "Column 'a': a schema needs a list as edges"),
        ({"columns": {"a": {"values": "f"}}}, "Column 'a': a schema needs a list as values"),
        ({"columns": {"a": {"values": []}}}, "Column 'a': categories need at least one"),
        ({"columns": {"a": BOX}, "ball": 3}, "ball needs a radius and a center"),
        ({"columns": {"a": BOX}, "ball": {"radius": 1}}, "ball needs a radius and a center"),
        (
            {"columns": {"a": BOX}, "ball": {"radius": 1, "center": [0], "r": 1}},
            "Unknown key 'r' in the ball",
        ),
    ],
)
def test_a_bad_document_is_refused_in_one_sentence(document, part):
    refused(lambda: Schema.from_dict(document), part)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[1]", "must be a JSON object"),
        ("[" * 100_000, "not valid JSON"),
        ('{"columns": {"a": {"low": NaN, "high": 1}}}', "Column 'a': a schema needs a finite"),
        ('{"columns": {"a": {"low": 0, "high": 1e999}}}', "Column 'a': a schema needs a finite"),
        (f'{{"columns": {{"a": {{"low": 0, "high": 1{"0" * 5000}}}}}}}', "not valid JSON"),
        ('{"columns": {"a": {"low": 0, "high": 1}, "a": {}}}', "'a' is declared twice"),
    ],
)
def test_bad_json_is_refused_in_one_sentence(text, part):
    refused(lambda: Schema.from_json(text), part)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no table of columns"),
        ("columns = ", "not valid TOML"),
        ("[columns.a]\nlow=0\nhigh=1\n[columns.a]\nlow=1\nhigh=2", "not valid TOML"),
        ("[columns.a]\nlow=0\nhigh=nan", "Column 'a': a schema needs a finite"),
        ("[columns.a]\nlow=0\nhigh=2020-01-01", "Column 'a': the bounds are of different forms"),
    ],
)
def test_bad_toml_is_refused_in_one_sentence(text, part):
    refused(lambda: Schema.from_toml(text), part)


def test_bad_files_are_refused_in_one_sentence(tmp_path):
    refused(lambda: Schema.load(tmp_path / "absent.toml"), "was not found")
    refused(lambda: Schema.load(tmp_path / "schema.yaml"), "end in .json, .toml or .jsonld")
    refused(lambda: SCHEMA.save(tmp_path / "schema"), "end in .json, .toml or .jsonld")
    refused(lambda: SCHEMA.save(tmp_path / "absent" / "schema.json"), "cannot be written")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    refused(lambda: Schema.load(tmp_path / "bytes.json"), "cannot be read as UTF-8")
    (tmp_path / "folder.json").mkdir()
    refused(lambda: Schema.load(tmp_path / "folder.json"), "cannot be read")
