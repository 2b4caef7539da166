"""How the release of a fit is shown on a terminal; the same for every family."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from privclust.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from privclust.jobs.fit import Fit
    from privclust.jobs.publish import Published
    from privclust.release import Facts

__all__ = ["kept_or_printed", "show", "tables"]

_CELL = 14  # characters for each column of a table


@contextmanager
def kept_or_printed(fit: Fit) -> Iterator[None]:
    """Print in full a release that was paid for and could not be written anywhere."""
    from privclust.exceptions import NotSavedError
    from privclust.jobs.publish import summary_of

    try:
        yield
    except NotSavedError as error:
        if error.kept is None:
            typer.echo(json.dumps(summary_of(fit.model.release()), allow_nan=False))
        raise


def show(published: Published, *told: str, as_json: bool) -> None:
    """Show what was published, and where, and what else is to be told."""
    release = published.release
    if not release.privacy.private:
        screen.alarm(release.privacy.promise)
    shown: list[RenderableType] = [*tables(release.facts()), "", *told, *published.sentences]
    screen.answer(published.to_dict(), *shown, as_json=as_json)


def tables(facts: Facts) -> Iterator[Table]:
    """Yield the tables of a release, with as many columns as fit on the screen."""
    from rich.table import Table

    room = max(3, screen.stdout().width // _CELL)
    for listing in facts.listings:
        table, headings = Table(box=None, pad_edge=False), listing.headings
        for heading in headings[:room]:
            table.add_column(heading, justify="right", overflow="fold")
        if len(headings) > room:
            table.add_column(f"and {len(headings) - room} more")
        for line in listing.lines:
            table.add_row(*line[:room])
        yield table
