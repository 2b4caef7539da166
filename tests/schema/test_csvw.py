"""Schemas come from CSVW-EO and go back to it; what is missing there is named."""

from __future__ import annotations

import json

import pytest

from privclust import Bins, Box, Categories, Schema
from privclust.exceptions import SchemaError


def column(name, datatype, **facts):
    return {"@type": "Column", "name": name, "datatype": datatype, **facts}


def partition(low, high):
    return {
        "@type": "Partition",
        "predicate": {"lowerBound": low, "upperBound": high},
        "maxLength": 74,
    }


def table(*columns, **facts):
    return json.dumps({"@type": "Table", **facts, "tableSchema": {"columns": list(columns)}})


# As the reference library of CSVW-EO writes it.
PENGUINS = table(
    column("species", "string", required=True, nullableProportion=0.0, exhaustiveKeys=True,
           keyValues=["Adelie", "Chinstrap", "Gentoo"], maxNumPartitions=3),
    column("bill", "double", required=False, minimum=32.0, maximum=60.0, default="44.5"),
    column("mass", "positiveInteger", required=True, minimum=2700, maximum=6300),
    column("depth", "double", required=False,
           partitions=[partition(10.0, 15.0), partition(15.0, 22.0)]),
    column("sex", "boolean", required=True, minimum=False, maximum=True, keyValues=[False, True]),
    column("seen", "dateTime", required=False, minimum="2025-01-01T00:00:00",
           maximum="2025-01-03T00:00:00", default="2025-01-02T00:00:00"),
    column("born", "date", required=True, minimum="2020-01-01", maximum="2024-12-31"),
    column("island", "string", required=False, exhaustiveKeys=False,
           partitions=[{"predicate": {"partitionValue": name}} for name in ("Biscoe", "Dream")]),
    column("penguin_id", "positiveInteger", privacyId=True, minimum=1, maximum=341),
    privacyUnit="penguin_id", maxContributions=3, maxLength=344,
)  # fmt: skip


def test_facts_are_taken_over_and_statistics_are_not():
    schema = Schema.from_csvw(PENGUINS)
    assert schema.columns == {
        "species": Categories(["Adelie", "Chinstrap", "Gentoo"]),
        "bill": Box(32, 60, missing=44.5),
        "mass": Box(2700, 6300, form="integer"),
        "depth": Bins([10, 15, 22], missing="category"),
        "sex": Categories([False, True]),
        "seen": Box("2025-01-01T00:00:00", "2025-01-03T00:00:00", missing="2025-01-02T00:00:00"),
        "born": Box("2020-01-01", "2024-12-31"),
        "island": Categories(["Biscoe", "Dream"], missing="category", unknown="other"),
    }
    assert schema.ignore == ("penguin_id",)
    assert "Person('penguin_id', 3)" in schema.note
    assert "344" not in schema.to_json()


def test_no_value_is_invented_for_numbers_that_may_be_missing():
    given = table(column("stays", "integer", required=False, minimum=0, maximum=9))
    schema = Schema.from_csvw(given)
    assert schema.columns["stays"] == Box(0, 9, form="integer")
    assert "may be missing in stays" in schema.note
    assert "declare missing = a usual value" in schema.note


@pytest.mark.parametrize(
    "titles", ["length of stay", ["length of stay", "stay"], {"en": "length of stay"}]
)
def test_titles_are_the_label_of_a_column(titles):
    told = {"titles": titles, "dc:description": "From admission to discharge."}
    given = table(column("stay", "integer", minimum=0, maximum=9, **told))
    fact = Schema.from_csvw(given).columns["stay"]
    assert fact.label == "length of stay"
    assert fact.description == "From admission to discharge."


def test_a_schema_comes_back_from_its_file(tmp_path):
    schema = Schema(
        {
            "age": Box(0, 100, form="integer"),
            "cost": Box(0, 100, missing=12.5, label="cost of a visit", description="In euros."),
            "left": Box("2020-01-01", "2024-12-31", missing="2023-06-30"),
            "stay": Bins([0, 1, 7], form="integer"),
            "day": Box("2020-01-01", "2024-12-31"),
            "size": Bins([0, 1, 5]),
            "level": Categories([1, 2, 3], missing="category"),
            "sex": Categories(["f", "m"], unknown="other"),
            "yes": Categories([False, True]),
        }
    )
    for name in ("schema.jsonld", "schema.json-ld"):
        schema.save(tmp_path / name)
        assert Schema.load(tmp_path / name) == schema


def test_the_unit_of_people_is_written_and_read():
    text = Schema({"age": Box(0, 100)}).to_csvw(id_column="who", max_rows=4)
    written = json.loads(text)
    assert (written["privacyUnit"], written["maxContributions"]) == ("who", 4)
    assert written["tableSchema"]["columns"][1]["privacyId"] is True
    assert Schema.from_csvw(text).ignore == ("who",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (table(column("age", "integer", minimum=0)), "'age' has no minimum and maximum"),
        (table(column("town", "string")), "'town' has no keyValues"),
        (table(column("wait", "duration", minimum="P1D", maximum="P2D")), "'duration'"),
        (table(column("age", "double", required=False, minimum="a", maximum="b")), "'age'"),
        (table(column("age", "double", minimum=0, maximum=9, default="x")), "not a number"),
        (table({"datatype": "string"}), "has no name"),
        (json.dumps({"tableSchema": {}}), "no list of columns"),
        ("[1]", "no list of columns"),
        ("{", "not valid JSON"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_in_one_sentence(text, words):
    with pytest.raises(SchemaError, match=words) as caught:
        Schema.from_csvw(text)
    assert str(caught.value).count(". ") == 0
