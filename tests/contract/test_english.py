"""Turns of phrase that are not English, or not plain, were removed once and stay away."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "privclust"

# What to write instead.
TICS = {
    r"\b[Ss]o many\b": "name the parameter, or say 'this many'",
    r"\bholds no\b": "'has no' or 'is not a'",
    r"\b[Ww]hoever\b": "'anyone who', or who it is",
    r"\b(?:one|a|One|A) row more\b": "'one more row'",
    r"\bTell whether\b": "'Return whether'",
    r"\b[Hh]ardly (?:a|any|anybody|anything|matters)\b": "'almost no'",
    r"\bnothing but\b": "'only'",
    r"(?<![.{])\bbeside\b(?!\})": "'next to', 'besides' or 'among'",
    r"\bmade-up\b": "'synthetic'",
    r"\b(?:is|are) taken to be\b": "'is assumed to be'",
    r"\bThe way of a fit\b": "'The steps of a fit'",
    r"\bas it stands in a file\b": "'as written in a file'",
}
# Figures that a command wrote, and the words of releases of earlier versions, stay as they are.
WRITTEN = ("docs/research/", "docs/zones.md", "docs/leaderboard.md")


def words_of_code(text: str) -> str:
    """Return the strings and comments of Python, one line of them for each line of code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    prose = (tokenize.STRING, tokenize.COMMENT)
    return "\n".join(token.string for token in tokens if token.type in prose)


def texts() -> dict[str, str]:
    code, templates = SOURCES.rglob("*.py"), SOURCES.rglob("*.j2")
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "proofs").glob("*.md")]
    named = {file.relative_to(ROOT).as_posix(): file for file in (*code, *templates, *pages)}
    return {
        name: words_of_code(file.read_text("utf-8")) if file.suffix == ".py" else file.read_text()
        for name, file in named.items()
        if name != "CHANGELOG.md" and not name.startswith(WRITTEN)
    }


def tics_in(text: str) -> list[str]:
    """Return what was found, across the ends of lines, with what to write instead."""
    line = re.sub(r"\s+(?:# )?", " ", text)
    return [
        f"{found.group()}: {instead}"
        for tic, instead in TICS.items()
        for found in re.finditer(tic, line)
    ]


def test_the_words_are_plain_english() -> None:
    assert not {name: found for name, text in texts().items() if (found := tics_in(text))}


@pytest.mark.parametrize(
    "tic",
    ["divide it among so many steps", "'a.csv' holds\n    no rows", "the rows beside it"],
)
def test_a_tic_is_seen(tic: str) -> None:
    assert tics_in(tic)


def test_names_are_not_read_as_words() -> None:
    assert not tics_in(words_of_code('beside = f"{self.beside} {beside}"'))
