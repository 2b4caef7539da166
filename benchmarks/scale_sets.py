"""Data of any size for ``scale.py``, written to files part by part; made from a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

__all__ = ["CATEGORIES", "DIMENSION", "make_baskets", "make_categories", "make_points"]

DIMENSION, CLUMPS = 16, 16
CATEGORIES = (9, 7, 16, 16, 7, 14, 6, 5, 2, 5, 5, 5, 41, 2)
GROUP, FILE = 125_000, 500_000


def make_points(folder: Path, n_rows: int, seed: int = 0) -> Path:
    """Write rows in clumps within (-1, 1) as float32, half a million to a file."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-0.8, 0.8, (CLUMPS, DIMENSION))
    layout = pa.schema([(f"x{j}", pa.float32()) for j in range(DIMENSION)])

    def table(size: int) -> pa.Table:
        rows = centres[rng.integers(0, CLUMPS, size)]
        rows = rows + rng.normal(scale=0.1, size=rows.shape)
        columns = rows.clip(-1, 1).astype(np.float32).T
        return pa.table([pa.array(column) for column in columns], schema=layout)

    return _written(folder, n_rows, layout, table)


def make_categories(folder: Path, n_rows: int, seed: int = 0) -> Path:
    """Write rows of small integers, of as many categories as the census of the papers."""
    rng = np.random.default_rng(seed)
    layout = pa.schema([(f"c{i}", pa.int8()) for i in range(len(CATEGORIES))])

    def table(size: int) -> pa.Table:
        columns = [rng.integers(0, k, size, dtype=np.int8) for k in CATEGORIES]
        return pa.table([pa.array(column) for column in columns], schema=layout)

    return _written(folder, n_rows, layout, table)


def make_baskets(
    folder: Path, shape: tuple[int, int], n_entries: int, seed: int = 0, n_files: int = 20
) -> Path:
    """Write a matrix of counts with eight groups of rows and of columns as ``.npz`` pieces."""
    if folder.is_dir():
        return folder
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    n_rows, width = shape[0] // n_files, shape[1] // 8
    for number in range(n_files):
        size = n_entries // n_files
        rows = np.sort(rng.integers(0, n_rows, size))
        within = rng.random(size) < 0.7
        blocks = np.where(within, rows % 8, rng.integers(0, 8, size))
        columns = blocks * width + rng.integers(0, width, size)
        entries = np.ones(size, np.int32), (rows, columns)
        piece = sparse.csr_array(sparse.coo_array(entries, (n_rows, shape[1])))
        sparse.save_npz(folder / f"{number:03}.npz", piece, compressed=False)
    return folder


def _written(folder: Path, n_rows: int, layout: pa.Schema, table) -> Path:
    if folder.is_dir():
        return folder
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, n_rows, FILE)):
        with pq.ParquetWriter(
            folder / f"{number:04}.parquet", layout, use_dictionary=False
        ) as writer:
            for first in range(start, min(start + FILE, n_rows), GROUP):
                writer.write_table(table(min(GROUP, n_rows - first)))
    return folder
