"""Tables of thousands of columns: nothing looks at all of them once for each of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privclust import Ball, PrivateKMeans, Schema
from privclust.data.public import Noisy
from privclust.notes import bound_notes
from privclust.reading.selection import select_by_name


@pytest.mark.parametrize("method", ["auto", "lloyd"])
def test_a_fit_goes_through_the_schema_about_as_often_whatever_its_width(method, monkeypatch):
    looks = []
    boxes = Schema._boxes.fget
    monkeypatch.setattr(Schema, "_boxes", property(lambda self: looks.append(1) or boxes(self)))

    def counted(width):
        looks.clear()
        schema = Schema.from_bounds(0, 1, n_columns=width, ball=Ball(1.0, [0.0] * width))
        rows = np.random.default_rng(0).random((400, width)) / width
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            PrivateKMeans(2, epsilon=9, schema=schema, method=method, random_state=0).fit(rows)
        return len(looks)

    assert counted(80) < 2 * counted(8)


class Unsearched(list):
    """Names that may be gone through, but not searched for each of as many others."""

    def __contains__(self, name):
        raise AssertionError(name)


def test_columns_are_chosen_without_searching_a_list_for_each_of_them():
    names = [f"x{number}" for number in range(50)]
    assert select_by_name(Unsearched(names), Unsearched(names)).read == tuple(names)


@pytest.mark.parametrize("n_columns", [1, 3, 4, 100])
def test_many_columns_at_a_bound_share_one_doubt(n_columns):
    schema = Schema.from_bounds(0, 1, n_columns=n_columns)
    sizes = Noisy(np.array([50.0, 50.0]), 1.0)
    found = [note.text for note in bound_notes(np.zeros((2, n_columns)), sizes, schema)]
    if n_columns <= 3:
        assert len(found) == n_columns
        assert found[0].startswith("All centres lie at the lower bound of the column 'x0': ")
    else:
        (doubt,) = found
        assert f"a bound of each of {n_columns} columns, such as 'x0'" in doubt
