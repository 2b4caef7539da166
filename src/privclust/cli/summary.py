"""``privclust cluster``, ``choose-k`` and ``sample``: what a summary answers at no cost."""

from __future__ import annotations

from dataclasses import asdict
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
    overwrite: options.Overwrite = False,
) -> None:
    """Make a k-means release from a summary. Nothing more is spent."""
    from privclust.cli.fit import show
    from privclust.jobs.fit import Destination

    place = Destination.check(output, report=True, overwrite=overwrite)
    show(place.publish(_load_summary(summary).kmeans(clusters)))


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
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    from privclust.clustering.from_cells import as_table
    from privclust.jobs import output_paths as places

    places.check_file(output, "Rows", (".csv", ".parquet"), overwrite=overwrite)
    loaded = _load_summary(summary)
    drawn = loaded.sample(rows)
    table = drawn
    if not isinstance(drawn, pa.Table):
        schema = loaded.release().schema
        columns = dict(zip(schema.numeric, drawn.T, strict=True))
        table = as_table(schema, columns, np.random.default_rng())
    write = pq.write_table if output.suffix.lower() == ".parquet" else pyarrow.csv.write_csv
    with places.replace_atomically(output) as temporary:
        write(table, temporary)
    notes = loaded.sample_notes()
    document = {"rows": str(output), "n_rows": rows, "notes": list(notes)}
    text = "\n".join([f"{rows:,} synthetic rows: {output}", *notes])
    screen.answer(document, text)


# What else the command line offers.
more = {"cluster": cluster, "choose-k": choose_k, "sample": sample}


def _load_summary(path: Path) -> Summary:
    from privclust.clustering.answers import Summary
    from privclust.release.release import Release

    return Summary(Release.load(path))
