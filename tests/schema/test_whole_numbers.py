"""Columns that are declared to hold whole numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privclust import PrivateKMeans
from privclust.exceptions import SchemaError
from privclust.schema.facts import Bins, Box
from privclust.schema.schema import Schema


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(0.5, 9, form="integer"),
        lambda: Box(0, 2**60, form="integer"),
        lambda: Box(0, 9, missing=2.5, form="integer"),
        lambda: Bins([0, 1.5, 3], form="integer"),
    ],
)
def test_bounds_of_whole_numbers_are_whole_and_not_too_large(make):
    with pytest.raises(SchemaError, match="whole number of at most 2\\^53"):
        make()


def test_a_schema_file_keeps_that_a_column_is_whole(tmp_path):
    schema = Schema({"a": Box(0, 9, form="integer"), "b": Box(0, 9)})
    schema.save(tmp_path / "schema.toml")
    again = Schema.load(tmp_path / "schema.toml")
    assert again == schema
    assert (again["a"].form, again["b"].form) == ("integer", "number")


def test_whole_numbers_are_read_as_any_others():
    """What is read is taken as it is, so that nothing depends on the declaration."""
    rows = pd.DataFrame({"a": np.random.default_rng(0).uniform(0, 9, 300)})
    fits = (
        PrivateKMeans(2, schema=Schema({"a": Box(0, 9, form=form)}), random_state=0).fit(rows)
        for form in ("integer", "number")
    )
    one, other = (fit.cluster_centers_ for fit in fits)
    np.testing.assert_array_equal(one, other)


def test_whole_numbers_are_shown_whole_where_their_range_is_wide():
    year, children = Box(1900, 2020, form="integer"), Box(0, 9, form="integer")
    assert (year.shown(1996.768), children.shown(1.4), children.shown(2.0)) == ("1997", "1.4", "2")
    assert Box(0, 5_000_000, form="integer").describe() == "0 to 5000000"
    assert Box(0, 100, unit="%").shown(45.5) == "45.5 %"
