"""``privclust report``: the page about a release for readers new to differential privacy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privclust.cli import options, screen

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
    from privclust.jobs import places
    from privclust.release import Release

    loaded = Release.load(release)
    page = places.report_of(release) if output is None else output
    # The page within a release is made from nothing but the release: it may be made again.
    within = output is None and not places.is_one_file(release)
    places.check_file(page, "Report", (".html",), overwrite=overwrite or within)
    loaded.report(page)
    signed = None if loaded.signature is None else loaded.signature.public_key
    lines = [f"Report: {page}"] if signed is None else [f"Report: {page}", f"Signed: {signed}"]
    document = {"report": str(page)} | ({} if signed is None else {"signed": signed})
    screen.answer(document, *lines, as_json=as_json)
