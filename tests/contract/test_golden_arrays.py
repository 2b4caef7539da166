"""Seeded fits release the very arrays that they released before the code was rearranged."""

from __future__ import annotations

import json
import warnings

import pytest

from contract.golden_fits import FILE, digest_of, fits

GOLDEN = json.loads(FILE.read_text())
FITS = dict(fits())


def test_every_golden_fit_is_still_made() -> None:
    assert FITS.keys() == GOLDEN.keys()


@pytest.mark.parametrize("name", FITS)
def test_the_released_arrays_are_those_of_before(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert digest_of(FITS[name]()) == GOLDEN[name]
