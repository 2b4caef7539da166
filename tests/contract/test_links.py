"""What the project's pages point to exists: linked files, and paths of tests and modules."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

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
    return [word for quoted in QUOTED.findall(page.read_text("utf-8")) for word in quoted.split()]


@cache
def is_there(path: str) -> bool:
    """Tell whether a path exists in the repository, in the package or among the tests."""
    if path.startswith(TOP):
        return (ROOT / path).exists()
    places = [ROOT / path, SOURCES / path, *SOURCES.rglob(path), *(ROOT / "tests").rglob(path)]
    return any(place.exists() for place in places)


@cache
def all_tests() -> str:
    """Return the text of all tests."""
    return "\n".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))


def paths(page: Path) -> list[str]:
    """Return the paths of our own files that a page names."""
    files = [word.partition("::")[0].strip(",;:") for word in named(page)]
    ours = (*TOP, "test_", "data/", "privacy/", "unit/", "kmeans/", "categorical/", "audit/")
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file(page):
    gone = [link for link, _ in links_of(page) if link and not (page.parent / link).exists()]
    made = [(ROOT / name).resolve() for name in MADE_PAGES]
    assert [link for link in gone if (page.parent / link).resolve() not in made] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_place_of_a_page_leads_to_a_heading(page):
    placed = [(page.parent / link if link else page, at) for link, at in links_of(page) if at]
    assert [
        (str(to), at) for to, at in placed if to.suffix == ".md" and at not in anchors(to)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_module_that_a_page_names_exists(page):
    assert [path for path in paths(page) if not is_there(path)] == []
    modules = [name for word in named(page) for name in MODULE.findall(word)]
    assert [name for name in modules if not resolves(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page):
    names = [n for word in named(page) for n in re.findall(r"\btest_\w+\b(?!\.py)", word)]
    assert [name for name in names if f"def {name}(" not in all_tests()] == []


def test_something_is_checked():
    assert len(PAGES) > 20
    assert sum(len(paths(page)) for page in PAGES) > 60
    assert not is_there("tests/unit/test_nothing.py")
    assert not resolves("privclust.nothing")
    assert not resolves("privclust.data.nothing_of_the_kind")
