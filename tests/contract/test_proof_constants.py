"""The numbers that proofs rest on are those of the code.

A number on a page is followed by the name of its constant in a comment, which readers of the page
do not see: ``2^18<!-- privclust.data.points.kept.PIECE -->``.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "proofs"
MARKED = re.compile(r"([0-9][0-9^ +*-]*)<!-- ([\w.]+) -->")
FOUND = [
    (page.name, number.strip(), name)
    for page in sorted(PROOFS.glob("*.md"))
    for number, name in MARKED.findall(page.read_text())
]


@pytest.mark.parametrize(("page", "number", "name"), FOUND)
def test_a_number_of_a_proof_is_that_of_the_code(page: str, number: str, name: str) -> None:
    module, constant = name.rsplit(".", 1)
    # Digits and signs alone, by the expression above.
    stated = eval(number.replace("^", "**"))  # noqa: S307
    assert getattr(importlib.import_module(module), constant) == stated, page


def test_every_mark_has_a_number_before_it() -> None:
    marks = sum(page.read_text().count("<!-- privclust.") for page in PROOFS.glob("*.md"))
    assert len(FOUND) == marks


@pytest.mark.parametrize(
    ("page", "constants"),
    [
        ("points.md", {"GRID_RADIUS", "PIECE", "MOMENT_STEPS", "_INWARD"}),
        ("bounds.md", {"_LARGEST_POWER"}),
        ("table.md", {"BIT", "_LARGEST_SCORE"}),
        ("matrix.md", {"_ROW_STEPS", "LARGEST_ENTRY", "_LARGEST_SCORE"}),
        ("source-target.md", {"SOURCE_STEPS", "_FARTHEST"}),
    ],
)
def test_the_pages_name_the_constants_that_they_rest_on(page: str, constants: set[str]) -> None:
    assert {name.rsplit(".", 1)[1] for where, _, name in FOUND if where == page} >= constants
