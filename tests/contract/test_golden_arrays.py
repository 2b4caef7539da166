"""Seeded fits release the very arrays that they released before the code was rearranged.

Sources are put at means of floats and values of categories on axes, whose last bits belong to this
NumPy and to the instructions that it chooses for a processor; other arrays are sums of integers,
which every version adds alike. So all are fitted in a process that leaves out the newest ones.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import privclust
from contract.golden_fits import FILE, digests_of_another_process, fits

GOLDEN = json.loads(FILE.read_text())
NUMPY = "2.4."
OF_FLOATS = ("source-target", "dilca", "categorical", "kmeans of categories")


@pytest.fixture(scope="module")
def released() -> dict[str, str]:
    return digests_of_another_process(Path(privclust.__file__).parents[1])


def test_every_golden_fit_is_still_made() -> None:
    assert {name for name, _ in fits()} == GOLDEN.keys()


@pytest.mark.parametrize("name", GOLDEN)
def test_the_released_arrays_are_those_of_before(released: dict[str, str], name: str) -> None:
    if name.startswith(OF_FLOATS) and not np.__version__.startswith(NUMPY):
        pytest.skip("another NumPy rounds floats in another way")
    assert released[name] == GOLDEN[name]
