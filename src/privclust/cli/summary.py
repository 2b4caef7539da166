"""``privclust cluster``, ``choose-k`` and ``sample``: what a summary answers at no cost."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privclust.cli import options, screen

if TYPE_CHECKING:
    from privclust.clustering.answers import Summary

SummaryPath = Annotated[
    Path, typer.Argument(metavar="SUMMARY", help="A release of the kind summary.")
]


def cluster(
    summary: SummaryPath,
    clusters: options.Clusters = 8,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="Where the release goes.")
    ] = Path("release"),
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help="What the release is called.",
            show_default="as the summary",
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option("--names", metavar="FILE", help="Names of the clusters, one per line."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Make a k-means release from a summary. Nothing more is spent."""
    from privclust.cli.fit import show
    from privclust.jobs.fit import Destination

    place = Destination.check(output, report=True, overwrite=overwrite)
    release = _load_summary(summary).kmeans(clusters)
    called = () if names is None else options.read_lines(names)
    about = replace(release.about, title=title or release.about.title, names=called)
    show(place.publish(release.with_about(about)))


def choose_k(
    summary: SummaryPath,
    most: Annotated[int, typer.Option("--most", min=2, help="The largest number to try.")] = 16,
) -> None:
    """Show how many clusters a summary has, if that is clear. Nothing more is spent."""
    choice = _load_summary(summary).choose_k(range(1, most + 1))
    document = {
        "n_clusters": choice.n_clusters,
        "suggestion": choice.suggestion,
        "verdict": choice.verdict,
        "shortlist": [asdict(candidate) for candidate in choice.shortlist],
        "k": list(choice.ks),
        "inertia": choice.inertia.tolist(),
        "inertia_error": choice.inertia_error.tolist(),
    }
    screen.answer(document, str(choice))


def sample(
    summary: SummaryPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .csv or .parquet file.")
    ],
    rows: options.Rows = 1000,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw synthetic rows from a summary; they may be published. Nothing more is spent."""
    from privclust.jobs import output_paths as places
    from privclust.jobs.sample import SUFFIXES, write_synthetic_rows
    from privclust.release.release import Release

    places.check_file(output, "Rows", SUFFIXES, overwrite=overwrite)
    notes = write_synthetic_rows(Release.load(summary), rows, output)
    document = {"rows": str(output), "n_rows": rows, "notes": list(notes)}
    text = "\n".join([f"{rows:,} synthetic rows: {output}", *notes])
    screen.answer(document, text)


# What else the command line offers.
more = {"cluster": cluster, "choose-k": choose_k, "sample": sample}


def _load_summary(path: Path) -> Summary:
    from privclust.clustering.answers import Summary
    from privclust.release.release import Release

    return Summary(Release.load(path))
