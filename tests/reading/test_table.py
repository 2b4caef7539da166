"""The table: what each line makes of a value of each kind, and of any two values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.columns.kinds import CELLS, TAGS, TypedColumn, to_cells
from privclust.data.columns.table import MISSING_WORDS
from privclust.reading.objects import array_from
from support.readings import EVERY_LINE, LINES, of_fields, of_objects, read_by, readings_of

NAMES = tuple(LINES)


def reading(row):
    """Return what lines of the table made of a value: its value, None if missing, or "foreign"."""
    shown = {}
    for name, (value, foreign) in zip(NAMES, row[: len(NAMES)], strict=True):
        number = isinstance(value, str) and name in NAMES[:9]
        shown[name] = "foreign" if foreign else float.fromhex(value) if number else value
    return shown


def meant(**lines):
    """Return the reading that is meant; a line that is not named finds the value foreign."""
    names = {name.replace(" ", "_"): name for name in NAMES}
    if "number" in lines:  # a whole number is read as any other
        lines = {**lines, "integer": lines["number"]}
    return dict.fromkeys(NAMES, "foreign") | {names[key]: value for key, value in lines.items()}


MISSING = dict.fromkeys(NAMES)
NOON = dt.datetime(2020, 1, 1, 12)
DURATION = {"seconds": 5400.0, "minutes": 90.0, "hours": 1.5, "days": 0.0625}
IDS = {"id_as_text": "7", "id_as_number": "7"}
OBJECTS = [
    *((value, MISSING) for value in (None, pd.NA, pd.NaT, float("nan"), Decimal("NaN"))),
    *((value, MISSING) for value in (np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked)),
    (True, meant(number=1.0, boolean_category=True)),
    (np.False_, meant(number=0.0, boolean_category=False)),
    (7, meant(number=7.0, text=7.0, integer_category=7, **IDS)),
    (np.uint8(7), meant(number=7.0, text=7.0, integer_category=7, **IDS)),
    (
        2**53 + 1,
        meant(
            number=2.0**53,
            text=2.0**53,
            integer_category=2**53 + 1,
            id_as_text=str(2**53 + 1),
            id_as_number=str(2**53 + 1),
        ),
    ),
    (
        2**64,
        meant(number=2.0**64, text=2.0**64, id_as_text=str(2**64), id_as_number=str(2**64)),
    ),
    (10**400, meant(number=np.inf, text=None, id_as_text=str(10**400), id_as_number=str(10**400))),
    (7.0, meant(number=7.0, text=7.0, integer_category=7, **IDS)),
    (0.5, meant(number=0.5, text=0.5)),
    (np.inf, meant(number=np.inf, text=None)),
    (2.0**53 + 2, meant(number=2.0**53 + 2, text=2.0**53 + 2, integer_category=2**53 + 2)),
    (np.float32(0.5), meant(number=0.5, text=0.5)),
    (Fraction(1, 2), meant(number=0.5, text=0.5)),
    (Decimal("0.5"), meant(number=0.5, text=0.5)),
    (Decimal("7.00"), meant(number=7.0, text=7.0, integer_category=7, **IDS)),
    (Decimal("1e99999"), meant(number=np.inf, text=None)),
    (
        Decimal(10**20),
        meant(number=1e20, text=1e20, id_as_text=str(10**20), id_as_number=str(10**20)),
    ),
    ("x", meant(text_category="x", id_as_text="x")),
    ("", meant(text_category="", id_as_text=None, id_as_number=None)),
    (" 07.0", meant(text=7.0, text_category=" 07.0", id_as_text=" 07.0", id_as_number="7")),
    ("-0", meant(text=-0.0, text_category="-0", id_as_text="-0", id_as_number="0")),
    ("1e400", meant(text_category="1e400", id_as_text="1e400")),
    ("NA", meant(text_category="NA", id_as_text="NA")),
    (
        "2020-01-01T12:00Z",
        meant(
            date=18262.0,
            time=18262.5,
            text_category="2020-01-01T12:00Z",
            id_as_text="2020-01-01T12:00Z",
        ),
    ),
    ("1:30", meant(text_category="1:30", id_as_text="1:30", **DURATION)),
    (dt.date(2020, 1, 1), meant(date=18262.0, time=18262.0)),
    (np.datetime64("2020-01-01"), meant(date=18262.0, time=18262.0)),
    (np.datetime64("2020-01-01T12"), meant(date=18262.0, time=18262.5)),
    (NOON, meant(date=18262.0, time=18262.5)),
    (NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=18))), meant(date=18261.0, time=18261.75)),
    (dt.datetime(1969, 12, 31, 23), meant(date=-1.0, time=-1 / 24)),
    (pd.Timestamp(NOON), meant(date=18262.0, time=18262.5)),
    (dt.timedelta(hours=1.5), meant(**DURATION)),
    (np.timedelta64(90, "m"), meant(**DURATION)),
    (np.timedelta64(9, "10m"), meant(**DURATION)),
    (np.datetime64(3, "12h"), meant(date=1.0, time=1.5)),
    (dt.time(1, 30), meant(**DURATION)),
    *((value, meant()) for value in (b"x", "\ud800", 1j, (1,), [1], {}, object(), type)),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), OBJECTS, ids=range(len(OBJECTS)))
def test_what_the_table_makes_of_an_object(value, expected):
    assert reading(of_objects([value])[0]) == expected


UNWRITTEN = {"number": None, "integer": None, "integer_category": None, "boolean_category": None}
FIELDS = [
    (None, MISSING),
    ("7", meant(number=7.0, text=7.0, integer_category=7, text_category="7", **IDS)),
    (
        " 7 ",
        meant(number=7.0, text=7.0, integer_category=7, text_category=" 7 ")
        | {"id as text": " 7 ", "id as number": "7"},
    ),
    ("0.5", meant(number=0.5, text=0.5, text_category="0.5", id_as_text="0.5")),
    ("true", meant(number=1.0, boolean_category=True, text_category="true", id_as_text="true")),
    ("False", meant(number=0.0, boolean_category=False, text_category="False", id_as_text="False")),
    ("1e400", meant(number=np.inf, text_category="1e400", id_as_text="1e400")),
    ("x", meant(text_category="x", id_as_text="x")),
    *(
        (word, meant(text_category=word, id_as_text=word, **UNWRITTEN))
        for word in MISSING_WORDS[1:]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FIELDS)
def test_what_the_table_makes_of_a_field(text, expected):
    assert reading(of_fields([text])[0]) == expected


# Any two values, together and apart.

instants = st.datetimes(timezones=st.none() | st.just(dt.UTC) | st.timezones())
LONG = dt.timedelta(days=10**8)  # longer ones are no column of microseconds
EVERYTHING = {
    "float": st.floats() | st.floats(width=16).map(np.float16) | st.integers(-9, 9).map(float),
    "integer": st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9).map(np.int16),
    "boolean": st.booleans() | st.booleans().map(np.bool_),
    "text": st.text(st.characters(codec="utf-8"), max_size=5)
    | st.from_regex(r"\s?[+-]?[0-9]{1,4}(\.[0-9]*)?(e[0-9]{1,4})?", fullmatch=True)
    | st.dates().map(str)
    | instants.map(str)
    | st.timedeltas().map(str),
    "date": st.dates(),
    "moment": st.datetimes(),
    "duration": st.timedeltas(-LONG, LONG),
    "decimal": st.decimals(-(10**30), 10**30, places=5),
    "nothing": st.sampled_from([None, pd.NA, pd.NaT, float("nan")]),
}
OTHERS = (
    instants
    | st.integers()
    | st.decimals()
    | st.fractions()
    | st.times()
    | st.timedeltas()
    | st.complex_numbers()
    | st.binary(max_size=3)
    | st.text(max_size=3)
    | st.sampled_from([np.datetime64(2**62, "s"), np.timedelta64(-(2**62), "D")])
    | st.builds(lambda: 10**5000)  # too long to be written out where an example is refused
)
anything = st.one_of(*EVERYTHING.values(), OTHERS)
TYPES = {
    "float": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.large_string(),
    "date": pa.date32(),
    "moment": pa.timestamp("us"),
    "duration": pa.duration("us"),
    "decimal": pa.decimal128(38, 5),
    "nothing": pa.null(),
}


@given(st.lists(anything, min_size=2, max_size=4))
def test_cells_are_read_together_as_apart(values):
    assert readings_of(TypedColumn.of(to_cells(values))) == of_objects(values)


@pytest.mark.parametrize("kind", TYPES)
@given(data=st.data())
def test_values_of_a_kind_are_read_together_as_apart_and_as_cells(kind, data):
    values = data.draw(st.lists(EVERYTHING[kind] | st.none(), min_size=1, max_size=4))
    column = TypedColumn.of(pa.array(values, TYPES[kind], from_pandas=True))
    assert column.kind == kind
    assert readings_of(column) == of_objects(values)


@given(st.lists(st.sampled_from(["7", "x", " 7", "1e3", "", "NA", None, "2020-01-01"]), min_size=1))
def test_fields_are_read_together_as_apart_and_as_words(texts):
    array = pa.array(texts, pa.large_string())
    assert readings_of(TypedColumn("field", array)) == of_fields(texts)
    assert readings_of(TypedColumn("field", array.dictionary_encode())) == of_fields(texts)


@given(st.lists(st.integers(0, 2**64 - 1) | st.none(), min_size=1, max_size=4))
def test_unsigned_integers_are_read_together_as_apart_and_as_cells(values):
    column = TypedColumn.of(pa.array(values, pa.uint64()))
    assert column.kind == "unsigned"
    assert readings_of(column) == of_objects(values)


ODD_ZONES = [dt.timezone(dt.timedelta(microseconds=13)), dt.timezone(dt.timedelta(seconds=-7))]
FAR = [pd.Timestamp(np.datetime64(ticks, "s")) for ticks in (10**12, -(10**12), 0)]
OF_ONE_TYPE = {
    **EVERYTHING,
    "zones": instants | st.datetimes(timezones=st.sampled_from(ODD_ZONES)),
    "Timestamps": st.sampled_from(FAR) | instants.map(pd.Timestamp),
    "Timestamps and datetimes": instants.map(pd.Timestamp) | st.datetimes(),
    "narrow floats": st.floats(width=32).map(np.float32),
    "everything": anything,
}


@pytest.mark.parametrize("kind", OF_ONE_TYPE)
@given(data=st.data())
def test_objects_of_one_type_are_read_as_if_they_were_of_many(kind, data):
    some = OF_ONE_TYPE[kind] | EVERYTHING["nothing"]
    values = data.draw(st.lists(some, min_size=1, max_size=5))
    objects = np.empty(len(values), object)
    objects[:] = values
    assert readings_of(TypedColumn.of(array_from(objects))) == of_objects(values)


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 12)],
        [dt.datetime(2024, 1, 1, 12), dt.date(2024, 1, 1)],
        [1, 2.5],
        [2.0, 1, True],
        ["1", 1],
        [dt.timedelta(1), dt.time(1)],
    ],
)
def test_objects_of_two_types_are_read_one_by_one(values):
    objects = np.empty(len(values), object)
    objects[:] = values
    assert readings_of(TypedColumn.of(array_from(objects))) == of_objects(values)


class Unhashable(type):
    __hash__ = None  # type: ignore[assignment]


class Nameless(type):
    @property
    def __name__(cls):
        raise ValueError("SECRET")


class Strange(metaclass=Unhashable):
    pass


class Stranger(metaclass=Nameless):
    @property
    def __class__(self):
        raise KeyError("SECRET")


class Text(str):
    def __str__(self):
        raise ValueError("SECRET")


class Real(float):
    def __float__(self):
        raise SystemError("SECRET")


def test_no_class_of_a_value_is_an_error():
    for odd in (Strange(), Stranger(), Real(2), Text("x")):
        check_odd(odd)


def check_odd(odd):
    objects = np.empty(3, object)
    objects[:] = [7, odd, "x"]
    read = readings_of(TypedColumn.of(array_from(objects)))
    assert read == of_objects([7, odd, "x"])
    alone = np.empty(1, object)
    alone[0] = odd
    assert readings_of(TypedColumn.of(array_from(alone))) == read[1:2]


def test_a_dictionary_without_a_word_for_a_row_is_missing_there():
    words = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 2]), pa.array(["x", "7", None]))
    assert readings_of(TypedColumn.of(words)) == of_objects(["7", None, "x", None])


def test_cells_that_are_null_are_missing():
    column = TypedColumn.of(pa.nulls(2, CELLS))
    assert column.kind == "cell"
    assert readings_of(column) == of_objects([None, None])


def test_every_kind_that_a_cell_can_be_is_one_of_the_table():
    assert len(set(TAGS)) == len(TAGS) == 12
    assert all(line.takes("cell") and line.takes("nothing") for line in EVERY_LINE.values())
    assert not any(line.takes("other") for line in EVERY_LINE.values())


@pytest.mark.parametrize("name", EVERY_LINE)
def test_what_a_line_goes_on_with_is_what_it_read(name):
    values = [7, "7", None, b"x", dt.date(2020, 1, 1), 0.5, True, dt.timedelta(1)]
    column = TypedColumn.of(to_cells(values))
    read = EVERY_LINE[name].read(column, lambda array: array.is_null())
    found = read_by(EVERY_LINE[name], column)
    assert read.values.to_pylist() == [value is None for value, _ in found]
    assert read.foreign.tolist() == [foreign for _, foreign in found]


LONG_SPANS = {
    1: [dt.timedelta.max, *(np.timedelta64(2**62, unit) for unit in ("s", "D", "W"))],
    -1: [dt.timedelta.min, *(np.timedelta64(-(2**62), unit) for unit in ("s", "D", "W"))],
}


@pytest.mark.parametrize("sign", LONG_SPANS)
def test_a_span_of_any_length_is_a_cell(sign):
    for span in LONG_SPANS[sign]:
        assert reading(of_objects([span])[0])["days"] == sign * 2**62 / 86_400_000_000


FAR_TYPES = [pa.date32(), pa.date64(), *map(pa.timestamp, ("s", "ms", "us", "ns"))]


@pytest.mark.parametrize("kind", FAR_TYPES, ids=str)
def test_times_far_away_keep_their_side(kind):
    bits = kind.bit_width - 1
    ticks = pa.array([-(2**bits) + 1, 2**bits - 1], f"int{kind.bit_width}")
    early, late = (reading(row) for row in readings_of(TypedColumn.of(ticks.view(kind))))
    for form in ("date", "time"):
        assert early[form] < -(10**5)
        assert late[form] > 10**5


def test_zones_and_years_that_arrow_does_not_know_are_read_as_cells():
    noon = dt.datetime(2020, 1, 1, 12)
    for odd in (*(noon.replace(tzinfo=zone) for zone in ODD_ZONES), *FAR):
        objects = np.empty(2, object)
        objects[:] = [odd, noon]
        assert readings_of(TypedColumn.of(array_from(objects))) == of_objects([odd, noon])
