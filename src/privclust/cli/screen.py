"""What a person or a machine sees: tables, notes, progress bars, JSON.

Results go to stdout, everything about the run to stderr. Progress is shown on a terminal only: the
number of rows is private and must not end up in a log.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

__all__ = ["alarm", "answer", "note", "rows_progress", "show", "stdout"]


def stdout() -> Console:
    """Return the console of results; text in brackets is not taken for markup."""
    return Console(markup=False, highlight=False, emoji=False)


def answer(document: Mapping[str, Any], *shown: RenderableType, as_json: bool) -> None:
    """Give the result of a command, as one JSON document or as text."""
    if as_json:
        typer.echo(json.dumps(document, allow_nan=False))
        return
    for part in shown:
        show(part)


def show(part: RenderableType) -> None:
    """Show a line or a table; long lines are left to the terminal, so that paths stay whole."""
    stdout().print(part, soft_wrap=isinstance(part, str))


def note(text: str) -> None:
    """Tell the person at the terminal, if there is one, about the run."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)


def alarm(text: str) -> None:
    """Say something that must not be overlooked."""
    console = Console(stderr=True, markup=False, highlight=False)
    console.print(Text(text, style="bold red"), soft_wrap=True)


@contextmanager
def rows_progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how many rows were read; call what is given with rows done and rows in all."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from privclust.display import showing

    with showing(what) as tell:
        yield tell
