"""Under every rule a row is encoded by itself, and refused by itself.

What the table reads, a rule turns into a place in a box, a bin, a category or a person. Under
"error" data are refused if and only if one of their rows alone is.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest

from privclust.data.encode import Domain
from privclust.data.people import ContributionBound
from privclust.data.table.codes import ColumnCoder
from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.rows import Person

DAY, NOON = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12)
VALUES = [
    *(None, np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN"), np.datetime64("NaT")),
    *(True, 7, 7.0, 0.5, 1e9, np.inf, Decimal("7"), Decimal("0.5"), 2**64, "7", "x", "", "NA"),
    *(DAY, NOON, NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=5))), np.datetime64(0, "Y")),
    *("2020-01-01", dt.timedelta(hours=1), dt.time(1), pd.Timestamp(NOON), b"x", "\ud800", "1:30"),
]  # fmt: skip
EARLY, LATE = dt.date(2000, 1, 1), dt.date(2030, 1, 1)
FORMS = {
    **dict.fromkeys(("number", "text", "seconds", "minutes", "hours", "days"), (0, 1, 100)),
    **dict.fromkeys(("date", "time"), (EARLY, DAY, LATE)),
}


def categories(missing, unknown="other"):
    """Return facts of bins of every form and of categories of every kind under rules."""
    listed = {"text": ["x", "7", ""], "integers": [0, 7], "booleans": [True, False]}
    return {
        **{f"bins of {form}": Bins(e, form=form, missing=missing) for form, e in FORMS.items()},
        **{n: Categories(v, missing=missing, unknown=unknown) for n, v in listed.items()},
    }


def boxes(missing=None):
    return {
        f"box of {form}": Box(low, high, form=form, missing=missing or low)
        for form, (low, _, high) in FORMS.items()
    }


TOTAL = {
    "a constant": boxes(),
    "a category": categories("category"),
    "omitted": categories("omit"),
}
STRICT = {
    "no constant": boxes("error"),
    "no category": categories("error"),
    "nothing unknown": categories("category", "error"),
    "neither": categories("error", "error"),
}


def named(rules):
    """Return all facts under rules, as parameters of a test."""
    return [
        pytest.param(fact, id=f"{name}, {rule}")
        for rule, facts in rules.items()
        for name, fact in facts.items()
    ]


def rows_of(values, name="a"):
    return pd.DataFrame({name: pd.Series(values, dtype=object)})


def encoded(fact, values, block_rows=None):
    """Return the encoding of every row, to the bit."""
    schema = Schema({"a": fact})
    with open_rows(rows_of(values), ["a"], block_rows=block_rows) as source:
        if isinstance(fact, Box):
            domain = Domain.from_schema(schema)
            parts = [domain.to_grid(domain.numbers(block)) for block in source.blocks()]
        else:
            coder = ColumnCoder(schema)
            parts = [coder.codes(block) for block in source.blocks()]
    return [row.tobytes() for row in np.concatenate(parts)]


@pytest.mark.parametrize("fact", named(TOTAL))
def test_under_a_rule_every_row_is_encoded_by_itself(fact):
    alone = [encoded(fact, [value])[0] for value in VALUES]
    assert len(set(alone)) > 1
    for block_rows in (None, 1, 2):
        assert encoded(fact, VALUES, block_rows) == alone
    assert encoded(fact, VALUES[::-1]) == alone[::-1]
    for one, other in product(range(0, len(VALUES), 5), range(len(VALUES))):
        assert encoded(fact, [VALUES[one], VALUES[other]]) == [alone[one], alone[other]]


def refused(fact, values):
    try:
        encoded(fact, values)
    except DataError:
        return True
    return False


@pytest.mark.parametrize("fact", named(STRICT))
def test_rows_are_refused_if_and_only_if_one_of_them_alone_is(fact):
    alone = [refused(fact, [value]) for value in VALUES]
    assert not all(alone)
    fine = [value for value, wrong in zip(VALUES, alone, strict=True) if not wrong]
    assert not refused(fact, fine)
    for value, wrong in zip(VALUES, alone, strict=True):
        assert refused(fact, [*fine, value]) == wrong
        assert refused(fact, [value, fine[0]]) == wrong


def people(values, id_type, block_rows=None):
    """Return for each row the text of its person, or None if it belongs to nobody."""
    unit = Person("who", 1, missing="separate", id_type=id_type)
    bound, numbers = ContributionBound(unit, bytes(32)), []
    with open_rows(rows_of(values, "who"), ["who"], block_rows=block_rows) as source:
        for block in source.blocks():
            numbers += bound._numbers_of(block.column("who")).tolist()
    names = {number: person for person, number in bound._people.items()}
    return [names.get(number) for number in numbers]


@pytest.mark.parametrize("id_type", ["text", "number"])
def test_every_row_names_its_person_by_itself(id_type):
    values = [*VALUES, 2**53 + 1, float(2**53), Decimal(10**20), " 07", "7.0", "-0", np.uint8(7)]
    alone = [people([value], id_type)[0] for value in values]
    assert {"7", None} < set(alone)
    for block_rows in (None, 1, 2):
        assert people(values, id_type, block_rows) == alone
    assert people(values[::-1], id_type) == alone[::-1]
    for one, other in product(range(0, len(values), 5), range(len(values))):
        assert people([values[one], values[other]], id_type) == [alone[one], alone[other]]


SPELLINGS = {"7": [7, 7.0, Decimal("7"), Decimal("7.00"), "7"], str(2**64): [2**64, Decimal(2**64)]}


@pytest.mark.parametrize("person", SPELLINGS)
def test_a_whole_number_is_the_same_person_in_every_type(person):
    for value in SPELLINGS[person]:
        assert people([value], "text") == people([value], "number") == [person]
