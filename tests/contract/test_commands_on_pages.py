"""Every command that a page shows is one that the command line has, with options that it takes.

Tutorials and the first pages are walked command by command in ``test_documentation``; of the other
pages each command is parsed here, as typer would, and not run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privclust.cli.commands import app
from support.command_line import command_of

ROOT = Path(__file__).parents[2]
MADE = ("docs/gallery", "docs/reference/api", "docs/reference/command")
PAGES = sorted(
    page
    for page in [ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
    if not str(page.relative_to(ROOT)).startswith(MADE)
)
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`(privclust [^`\n]+)`(?!`)")
# Where a page leaves something out.
LEFT_OUT = ("...", "…", "SUBJECT")


def commands(page: Path) -> list[str]:
    """Return the commands in the blocks of a page."""
    blocks = "\n".join(FENCED.findall(page.read_text("utf-8"))).replace("\\\n", " ")
    return [
        line.removeprefix("$ ")
        for line in blocks.splitlines()
        if line.removeprefix("$ ").startswith("privclust ")
    ]


def mentions(page: Path) -> list[str]:
    """Return the commands, or the beginnings of some, within the sentences of a page."""
    found = INLINE.findall(FENCED.sub("", page.read_text("utf-8")))
    return [line for line in found if not any(word in line for word in LEFT_OUT)]


def those_with(kind: Callable[[Path], list[str]]) -> dict[str, Any]:
    """Return the pages that have some, as parameters of a test."""
    pages = [page for page in PAGES if kind(page)]
    return {"argvalues": pages, "ids": [str(page.relative_to(ROOT)) for page in pages]}


def found(line: str) -> tuple[Any, list[str]]:
    """Return the command that a line calls, and what follows its name."""
    _, *words = shlex.split(line, comments=True)
    command = command_of(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{line}: there is no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    return command, words


def check_options(line: str) -> None:
    """Raise if a line names an option that its command does not take."""
    command, words = found(line)
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    if hasattr(command, "commands"):
        known |= {"--help", "--version", "--install-completion"}
    wrong = [word for word in words if word.startswith("--") and word not in known | {"--help"}]
    assert wrong == [], f"{line}: there is no option {wrong}"


def check_command(line: str) -> None:
    """Raise unless a line can be parsed as the command line does it."""
    check_options(line)
    command, words = found(line)
    if words and not hasattr(command, "commands"):
        try:
            command.make_context("privclust", words)
        except Exception as error:  # of typer, in whose versions its name differs
            raise AssertionError(f"{line}: {error}") from None


def test_there_are_commands():
    assert sum(len(commands(page)) for page in PAGES) > 60


@pytest.mark.parametrize("page", **those_with(commands))
def test_every_command_of_a_page_can_be_parsed(page):
    for line in commands(page):
        check_command(line)


@pytest.mark.parametrize("page", **those_with(mentions))
def test_every_command_within_a_sentence_has_the_options_that_it_names(page):
    for line in mentions(page):
        check_options(line)


@pytest.mark.parametrize(
    "wrong",
    ["privclust nothing", "privclust kmeans x.csv --no-such", "privclust plan kmeans --clusters"],
)
def test_a_wrong_command_is_found(wrong):
    with pytest.raises(AssertionError):
        check_command(wrong)
