"""What the project's pages point to exists: linked files, and paths of tests and modules."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "proofs", "examples")
# Pages of the reference and of the gallery are made by the build of the site, which checks them.
MADE = ("docs/gallery", "docs/reference/api", "docs/reference/commands")
MADE_PAGES = tuple(f"docs/reference/{page}.md" for page in ("python", "command-line", "questions"))
PAGES = sorted(
    page
    for page in (
        *(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")),
        *(ROOT / "docs").rglob("*.md"),
    )
    if not str(page.relative_to(ROOT)).startswith((*MADE, *MADE_PAGES))
)
TOP = ("src/", "tests/", "docs/", "proofs/", "benchmarks/", "examples/")
SOURCES = ROOT / "src" / "privclust"

LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)|src=\"([^\"]+)\"")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w./-]+\.(?:py|md|j2|toml|sql|csv)|[\w./-]+/")
MODULE = re.compile(r"privclust(?:\.\w+)+")


def named(page: Path) -> list[str]:
    """Return what stands in backquotes on a page, word by word."""
    return words_of(page.read_text("utf-8"))


def words_of(text: str) -> list[str]:
    return [word for quoted in QUOTED.findall(text) for word in quoted.split()]


def present(page: Path) -> str:
    """Return what a page says of today; the history of changes may name what is gone."""
    text = page.read_text("utf-8")
    if page.name != "CHANGELOG.md":
        return text
    newest = text.split("\n## ")[1]
    parts = newest.split("\n### ")
    return "\n".join(part for part in parts if not part.startswith("What you must change"))


@cache
def is_there(path: str) -> bool:
    """Tell whether a path exists in the repository, in the package or among the tests."""
    if path.startswith(TOP):
        return (ROOT / path).exists()
    places = [ROOT / path, SOURCES / path, *SOURCES.rglob(path), *(ROOT / "tests").rglob(path)]
    return any(place.exists() for place in places)


@cache
def all_tests() -> set[str]:
    """Return the names of all tests."""
    files = (file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in files for name in re.findall(r"\bdef (test_\w+)\(", text)}


def guards(page: Path) -> list[str]:
    """Return the tests that a page names."""
    return [name for word in named(page) for name in re.findall(r"\btest_\w+\b(?!\.py)", word)]


def modules(page: Path) -> list[str]:
    """Return the dotted names of the package that a page names."""
    return [name for word in words_of(present(page)) for name in MODULE.findall(word)]


def paths(page: Path) -> list[str]:
    """Return the paths of our own files that a page names."""
    files = [word.partition("::")[0].strip(",;:") for word in named(page)]
    ours = (*TOP, "test_", "data/", "privacy/", "unit/", "clustering/", "categories/", "audit/")
    return [path for path in files if PATH.fullmatch(path) and path.startswith(ours)]


@cache
def resolves(dotted: str) -> bool:
    """Tell whether the longest part of a dotted name that can be a module is one."""
    parts = dotted.split(".")[1:]
    head = SOURCES / parts[0]
    if head.is_dir() or head.with_suffix(".py").exists():
        lower = [part for part in parts if part.islower()]
        return (
            len(lower) < 2
            or any(
                re.search(rf"\b{parts[1]}\b", file.read_text("utf-8"))
                for file in [*head.rglob("*.py"), head.with_suffix(".py")]
                if file.exists()
            )
            or (head / parts[1]).exists()
            or (head / f"{parts[1]}.py").exists()
        )
    return bool(re.search(rf"\bas {parts[0]}\b", (SOURCES / "__init__.pyi").read_text("utf-8")))


def links_of(page: Path) -> list[tuple[str, str]]:
    """Return the files and places within them that a page links to, in this repository."""
    found = [(a or b, at.removeprefix("#")) for a, at, b in LINK.findall(page.read_text("utf-8"))]
    return [(link, at) for link, at in found if "://" not in link and "mailto:" not in link]


def anchors(page: Path) -> set[str]:
    """Return the places of a page that can be linked to: its headings, as GitHub and MyST do."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings]
    return {word.replace(" ", "-") for word in words}


def wrong_on(look: Callable[[Path], list[Any]]) -> dict[str, list[Any]]:
    """Return what is wrong on each page, by its name; pages in order are left out."""
    return {str(page.relative_to(ROOT)): found for page in PAGES if (found := look(page))}


def test_every_link_of_a_page_leads_to_a_file():
    made = [(ROOT / name).resolve() for name in MADE_PAGES]

    def gone(page: Path) -> list[str]:
        files = [page.parent / link for link, _ in links_of(page) if link]
        return [str(to) for to in files if not to.exists() and to.resolve() not in made]

    assert wrong_on(gone) == {}


def test_every_link_to_a_place_of_a_page_leads_to_a_heading():
    def gone(page: Path) -> list[str]:
        placed = [(page.parent / link if link else page, at) for link, at in links_of(page) if at]
        return [f"{to}#{at}" for to, at in placed if to.suffix == ".md" and at not in anchors(to)]

    assert wrong_on(gone) == {}


def test_every_file_that_a_page_names_exists():
    assert wrong_on(lambda page: [path for path in paths(page) if not is_there(path)]) == {}


def test_every_module_that_a_page_names_exists():
    assert wrong_on(lambda page: [name for name in modules(page) if not resolves(name)]) == {}


def test_every_test_that_a_page_names_exists():
    assert wrong_on(lambda page: [test for test in guards(page) if test not in all_tests()]) == {}


def test_something_is_checked():
    assert len(PAGES) > 20
    for kind, least in ((links_of, 250), (paths, 60), (modules, 20), (guards, 20)):
        assert sum(len(kind(page)) for page in PAGES) > least
    assert any(at for page in PAGES for _, at in links_of(page))
    assert wrong_on(lambda page: ["wrong"] * (page == PAGES[0])) == {PAGES[0].name: ["wrong"]}
    assert "test_nothing_of_the_kind" not in all_tests()
    assert not is_there("tests/unit/test_nothing.py")
    assert not resolves("privclust.nothing")
    assert not resolves("privclust.data.nothing_of_the_kind")
