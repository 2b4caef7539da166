"""Synthetic rows of a summary, written as a file with the declared types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from privclust.clustering.answers import Summary
from privclust.clustering.from_cells import as_table
from privclust.jobs import output_paths as places
from privclust.release.release import Release

SUFFIXES = (".csv", ".parquet")


def write_synthetic_rows(release: Release, n_rows: int, output: Path) -> tuple[str, ...]:
    """Write rows to a file that ends in one of ``SUFFIXES``; return how far to trust them."""
    summary = Summary(release)
    table = summary.sample(n_rows)
    if not isinstance(table, pa.Table):
        columns = dict(zip(release.schema.numeric, table.T, strict=True))
        table = as_table(release.schema, columns, np.random.default_rng())
    write = pq.write_table if output.suffix.lower() == ".parquet" else pyarrow.csv.write_csv
    with places.replace_atomically(output) as temporary:
        write(table, temporary)
    return summary.sample_notes()
