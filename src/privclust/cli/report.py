"""``privclust report``: the page about a release for readers who know no differential privacy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privclust.cli import files, options, screen

__all__ = ["report"]


def report(
    release: options.ReleasePath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The .html file.",
            show_default="report.html within the release, or beside its file",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Write the report of a release as one HTML page."""
    from privclust.release import Release

    loaded = Release.load(release)
    page = files.report_of(release) if output is None else output
    # The page within a release is made from nothing but the release: it may be made anew.
    within = output is None and not files.is_one_file(release)
    files.check_file(page, "Report", (".html",), overwrite=overwrite or within)
    loaded.report(page)
    screen.answer({"report": str(page)}, f"Report: {page}", as_json=as_json)
