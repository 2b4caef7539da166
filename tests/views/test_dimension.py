"""Rows have at most as many coordinates as the proofs of exact sums allow."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.data.encode import MOST_COORDINATES, Domain
from privclust.data.points.mixed import region_of
from privclust.data.points.public import Projection
from privclust.exceptions import SchemaError
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from support.releases import as_one_sentence


def domain(dimension: int) -> Domain:
    """Return the domain of so many numbers between 0 and 1."""
    names = tuple(map(str, range(dimension)))
    zeros, ones = np.zeros(dimension), np.ones(dimension)
    return Domain(names, zeros, ones, ones, ones / 2, 1.0, zeros, within_ball=False)


def frame(dimension: int) -> Projection:
    return Projection(np.zeros(dimension))


def mixed(dimension: int) -> object:
    """Return the region of one number, and of a column with all other coordinates."""
    categories = Categories(list(range(dimension - 1)))
    return region_of(Schema({"a": Box(0, 1), "b": categories}))


@pytest.mark.parametrize("made", [domain, frame, mixed])
def test_more_coordinates_than_the_proofs_allow_are_refused(made):
    assert MOST_COORDINATES == 2**16
    assert made(MOST_COORDINATES).dimension == MOST_COORDINATES
    with pytest.raises(SchemaError) as error:
        made(MOST_COORDINATES + 1)
    as_one_sentence(error, "declare at most 65536")
