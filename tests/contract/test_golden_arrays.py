"""Seeded fits release the very arrays that they released before the code was rearranged."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from contract.golden_fits import FILE, digest_of, fits

GOLDEN = json.loads(FILE.read_text())
FITS = dict(fits())
# Sources are put at means of floats and values of categories on axes, whose last bits are those of
# this NumPy; other arrays are sums of integers, which every version adds alike.
NUMPY = "2.4."
OF_FLOATS = ("source-target", "dilca", "categorical")


def test_every_golden_fit_is_still_made() -> None:
    assert FITS.keys() == GOLDEN.keys()


@pytest.mark.parametrize("name", FITS)
def test_the_released_arrays_are_those_of_before(name: str) -> None:
    if name.startswith(OF_FLOATS) and not np.__version__.startswith(NUMPY):
        pytest.skip("another NumPy rounds floats in another way")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert digest_of(FITS[name]()) == GOLDEN[name]
