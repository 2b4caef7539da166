"""Every proof page says what its promise does not cover, under the same heading."""

from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "proofs"
PAGES = sorted(path.name for path in PROOFS.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_is_not_promised(page: str) -> None:
    lines = (PROOFS / page).read_text("utf-8").splitlines()
    assert lines.count("## What the promise does not cover") == 1
