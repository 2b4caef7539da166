"""The numbers that proofs rest on are those of the code.

A number on a page is followed by the name of its constant in a comment, which readers of the page
do not see: ``2^18<!-- privclust.data.points.mixed.PIECE -->``.
"""

from __future__ import annotations

import importlib
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from privclust.budget import epsilon_spent
from privclust.data.points.mixed import MixedDomain
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema

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
        ("mixture.md", {"PARTS", "LEVELS", "_PER_NAT", "_DEPTH", "_INWARD"}),
        ("bounds.md", {"_LARGEST_POWER"}),
        ("table.md", {"BIT", "_LARGEST_SCORE"}),
        ("matrix.md", {"ROW_STEPS", "LARGEST_ENTRY", "_LARGEST_SCORE"}),
        ("source-target.md", {"SOURCE_STEPS", "_FARTHEST"}),
    ],
)
def test_the_pages_name_the_constants_that_they_rest_on(page: str, constants: set[str]) -> None:
    assert {name.rsplit(".", 1)[1] for where, _, name in FOUND if where == page} >= constants


def numbers_in(page: str, sentence: str) -> list[str]:
    """Return the groups of an expression in the words of a page, wherever its lines end."""
    found = re.search(sentence, " ".join((PROOFS / page).read_text("utf-8").split()))
    assert found, page
    return list(found.groups())


def test_the_radius_of_mixed_rows_is_that_of_the_page() -> None:
    *sizes, radius, around = numbers_in(
        "mixed.md", r"columns of (\d+), (\d+), (\d+), (\d+), (\d+) and (\d+) categories, .* it is "
        r"([\d.]+) instead of ([\d.]+)\."
    )  # fmt: skip
    lists = {f"c{i}": Categories(range(int(size))) for i, size in enumerate(sizes)}
    schema = Schema({name: Box(0, 1) for name in "xyz"} | lists)
    assert f"{MixedDomain.from_schema(schema).radius:.2f}" == radius
    # Half the width of a box is 1/2 for a number and 1/√8 for each category.
    box = 3 / 4 + sum(int(size) for size in sizes) / 8
    assert f"{math.sqrt(box):.2f}" == around


def test_the_loss_of_many_draws_is_that_of_the_page() -> None:
    each, draws, delta, total = numbers_in(
        "rivals.md",
        r"ε = ([\d.]+) for each of (\d+) draws, .* δ = ([\de-]+) is about (\d+) in all",
    )
    # Noise of a standard deviation of √(2 ln(1.25/δ)) / ε costs ρ = ε² / (4 ln(1.25/δ)).
    rho = int(draws) * float(each) ** 2 / (4 * math.log(1.25 / float(delta)))
    assert round(epsilon_spent(Fraction(rho), Fraction(delta))) == int(total)
