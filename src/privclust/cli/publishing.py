"""How the release of a fit is shown on a terminal; the same for every family."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from privclust.cli import screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from privclust.jobs.publish import Place
    from privclust.release import Facts, Release

__all__ = ["checked_place", "publish", "tables"]

_CELL = 14  # characters for each column of a table


def checked_place(release: object, *, report: bool, overwrite: bool) -> Place:
    """Return where a release goes; raise if it cannot be written, before a fit costs any budget."""
    from pathlib import Path

    from privclust.jobs.publish import Place

    return Place.checked(Path(str(release)), report=report, overwrite=overwrite)


def publish(place: Place, release: Release, *, as_json: bool) -> None:
    """Write a release and its report, and show it; what fits nowhere is printed in full."""
    from privclust.exceptions import NotSavedError
    from privclust.jobs.publish import summary_of

    try:
        published = place.publish(release)
    except NotSavedError as error:
        if error.kept is None:
            typer.echo(json.dumps(summary_of(release), allow_nan=False))
        raise
    if not release.privacy.private:
        screen.alarm(release.privacy.promise)
    shown: list[RenderableType] = [*tables(release.facts()), "", *published.sentences]
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
