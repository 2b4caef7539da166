"""What a release of the project needs agrees with itself: versions, changelog, governance."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import privclust

ROOT = Path(__file__).parents[2]


def test_versions_agree():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == privclust.__version__


def test_the_changelog_begins_with_this_version_or_what_comes_next():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert privclust.__version__ in [heading.split()[0] for heading in headings[:2]]


@pytest.mark.parametrize(
    "name",
    [
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "LICENSE",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/ISSUE_TEMPLATE/mechanism.yml",
        ".github/ISSUE_TEMPLATE/privacy-question.yml",
    ],
)
def test_a_file_of_governance_is_there(name):
    assert (ROOT / name).stat().st_size > 100


def test_what_the_makefile_and_the_workflows_call_exists():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    scripts = re.findall(r"\b(?:tests|benchmarks|docs)/[\w/]+\.py\b", makefile)
    assert scripts
    assert [script for script in scripts if not (ROOT / script).exists()] == []
    workflows = "\n".join(f.read_text("utf-8") for f in (ROOT / ".github/workflows").glob("*.yml"))
    targets = set(re.findall(r"run: make (\w+)", workflows))
    assert {"test", "docs", "dist", "nightly"} <= targets
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_the_glossary_is_in_order_and_says_each_word_once():
    text = (ROOT / "docs/reference/glossary.md").read_text("utf-8")
    words = re.findall(r"^([^\n:#][^\n]*)\n: ", text, re.MULTILINE)
    greek = {"δ (delta)": "delta", "ε (epsilon)": "epsilon", "ρ (rho)": "rho"}
    keys = [greek.get(word, word.lower()) for word in words]
    assert keys == sorted(set(keys))
    assert len(keys) > 40


def test_no_page_has_two_versions_of_a_line():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "proofs").rglob("*.md")]
    marked = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
    assert [page.name for page in pages if marked.search(page.read_text("utf-8"))] == []
