"""Users' pages can be read in one go; the reference and the research notes may be long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MOST_WORDS = 1500
_RESEARCH = (DOCS / "research" / "index.md").read_text("utf-8")
# Research notes that stand in the first folder, as its table of contents lists them.
ELSEWHERE = {f"{name}.md" for name in re.findall(r"^\.\./([\w-]+)$", _RESEARCH, flags=re.M)}
MADE = ("reference", "research", "gallery")
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page.relative_to(DOCS).parts[0] not in MADE and page.name not in ELSEWHERE
]


def words(text: str) -> int:
    """Return the number of words that are read: without code and remarks."""
    for left_out in (r"<!--.*?-->", r"```.*?```"):
        text = re.sub(left_out, "", text, flags=re.S)
    return len(text.split())


def test_the_pages_of_users_are_found():
    names = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert {"kmeans.md", "schema.md", "tutorials/hospital.md", "service/operator.md"} <= names
    assert "leaderboard.md" in ELSEWHERE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_is_not_too_long(page):
    assert words(page.read_text("utf-8")) < MOST_WORDS
