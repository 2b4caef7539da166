"""Data written to files in many small parts, for engines to read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse


def parquet_folder(frame: Any, folder: Path, *, n_files: int = 2, row_group: int = 100) -> Path:
    """Write a pandas frame to Parquet files of small row groups, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    ends = np.linspace(0, len(frame), n_files + 1).astype(int)
    for number, (start, stop) in enumerate(pairwise(ends)):
        part = table.slice(start, stop - start)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=row_group)
    return folder


def npz_folder(matrix: Any, folder: Path, *, n_files: int = 3) -> Path:
    """Write a sparse matrix to files of some of its rows each, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = sparse.csr_array(matrix)
    ends = np.linspace(0, rows.shape[0], n_files + 1).astype(int)
    for number, (start, stop) in enumerate(pairwise(ends)):
        sparse.save_npz(folder / f"{number}.npz", rows[start:stop])
    return folder


def triples_file(matrix: Any, path: Path, *, row_group: int = 400) -> Path:
    """Write a sparse matrix as triples that are sorted by row."""
    entries = sparse.coo_array(sparse.csr_array(matrix))
    columns = {"row": entries.coords[0], "column": entries.coords[1], "count": entries.data}
    pq.write_table(pa.table(columns), path, row_group_size=row_group)
    return path
