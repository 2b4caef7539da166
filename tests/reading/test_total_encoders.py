"""Encoders are total: under every rule but "error" each value of each type has an encoding.

Under "error" what is refused is refused in one sentence that quotes nothing, and so is every error
that stands behind it.
"""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.data.encode import Domain
from privclust.data.table.codes import ColumnCoder
from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema

VALUES = {
    "integers": Categories([1, 2, 3], missing="category", unknown="other"),
    "text": Categories(["x", "1"], missing="category", unknown="other"),
    "booleans": Categories([True], missing="category", unknown="other"),
    "bins": Bins([0, 1, 2], missing="category"),
    "omitted": Categories([1, 2, 3], missing="omit", unknown="other"),
    "omitted bins": Bins([0, 1, 2], missing="omit"),
    "box": Box(0, 1, missing=0.5),
}
STRICT = {
    "integers": Categories([1, 2, 3]),
    "text": Categories(["x", "1"]),
    "booleans": Categories([True]),
    "bins": Bins([0, 1, 2]),
    "box": Box(0, 1),
}
anything = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=4)
    | st.decimals()
    | st.fractions()
    | st.binary(max_size=3)
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.complex_numbers()
    | st.tuples(st.integers())
    | st.sampled_from(
        [1.5, np.inf, -np.inf, "abc", 2**64, 10**400, pd.NA, pd.NaT, "\ud800", object]
    )
)


def encoded(data, fact):
    """Return the encoding of the one column of the data; no warning may tell of a value either."""
    schema = Schema({"a": fact})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_rows(data, ["a"]) as source:
            if isinstance(fact, Box):
                domain = Domain.from_schema(schema)
                return [domain.to_grid(domain.numbers(block)) for block in source.blocks()]
            coder = ColumnCoder(schema)
            return [coder.codes(block) for block in source.blocks()]


def objects(values):
    column = np.empty((len(values), 1), object)
    column[:, 0] = values
    return column


def frames(values):
    yield objects(values)
    yield [[value] for value in values]
    yield pd.DataFrame({"a": pd.Series(values, dtype=object)})


@pytest.mark.parametrize("fact", VALUES.values(), ids=VALUES)
@given(values=st.lists(anything, min_size=1, max_size=4))
def test_no_value_is_refused_under_a_rule(fact, values):
    for data in frames(values):
        (block,) = encoded(data, fact)
        assert len(block) == len(values)
        if isinstance(fact, Box):
            assert np.isfinite(block).all()
            assert np.abs(block).max() <= 2**20
        else:
            assert block.max() < fact.size + (fact.missing == "omit")


TYPED = [
    pd.DataFrame({"a": [1, 2, 1.5]}),
    pd.DataFrame({"a": [1, 2, np.inf]}),
    pd.DataFrame({"a": ["abc", None]}),
    pd.DataFrame({"a": pd.Categorical(["abc", 7])}),
    pd.DataFrame({"a": pd.to_datetime(["1977-01-01", None])}),
    pd.DataFrame({"a": np.array([2**64 - 1, 1], np.uint64)}),
    pl.DataFrame({"a": [Decimal("1.5"), Decimal("3")]}),
    pl.DataFrame({"a": [[1], None]}),
    pl.DataFrame({"a": [datetime.timedelta(1), None]}),
    pa.table({"a": [{"b": 1}, None]}),
    pa.table({"a": [b"x", None]}),
    np.array([["abc"], ["1"]]),
    np.array([["1977-01-01"]], "M8[s]"),
]


@pytest.mark.parametrize("fact", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("data", TYPED, ids=range(len(TYPED)))
def test_no_column_type_is_refused_under_a_rule(data, fact):
    (block,) = encoded(data, fact)
    assert len(block) == len(data)


@pytest.mark.parametrize("fact", VALUES.values(), ids=VALUES)
def test_no_field_of_a_csv_file_is_refused_under_a_rule(fact, tmp_path):
    fields = ["1", "abc", "1.5", "inf", str(2**64), "", "NA", "true", " 2 ", "1e999", "ä"]
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{field},\n" for field in fields))
    schema_only = open_rows(tmp_path / "x.csv", ["a"], ignore=["b"])
    with schema_only as source:
        for block in source.blocks():
            if isinstance(fact, Box):
                domain = Domain.from_schema(Schema({"a": fact}))
                assert np.isfinite(domain.to_grid(domain.numbers(block))).all()
            else:
                most = fact.size + (fact.missing == "omit")
                assert ColumnCoder(Schema({"a": fact})).codes(block).max() < most


def test_foreign_values_are_others_and_missing_ones_are_missing():
    fact = VALUES["integers"]  # 1, 2, 3, (missing), (other)
    column = [1, "abc", 1.5, 2**64, np.inf, None, np.nan, 3.0, True]
    (codes,) = encoded(objects(column), fact)
    assert codes[:, 0].tolist() == [0, 4, 4, 4, 4, 3, 3, 2, 4]
    (grid,) = encoded(objects([0.0, "abc", np.inf, None, 1]), VALUES["box"])
    assert grid[:, 0].tolist() == [-(2**20), 0, 0, 0, 2**20]


SECRETS = ["SECRET77", 771177.25, Decimal("771177.25"), b"SECRET77", {"SECRET77": 1}, 2**77]


@pytest.mark.parametrize("fact", STRICT.values(), ids=STRICT)
@pytest.mark.parametrize("value", SECRETS, ids=range(len(SECRETS)))
def test_what_is_refused_under_error_is_refused_without_quoting(value, fact, tmp_path):
    (tmp_path / "x.csv").write_text(f"a\n1\n{value}\n")
    for data in (*frames([1, value]), *frames([value]), tmp_path / "x.csv"):
        if isinstance(fact, Box | Bins) and not isinstance(value, str | bytes | dict):
            continue  # a number like any other
        with pytest.raises(DataError) as caught:
            encoded(data, fact)
        error, shown = caught.value, ""
        assert str(error).endswith(".")
        assert ". " not in str(error)
        while error is not None:
            shown += f"{error!r} {vars(error)}"
            error = error.__cause__ or error.__context__
        assert "SECRET" not in shown
        assert "7711" not in shown
        assert str(2**77) not in shown
