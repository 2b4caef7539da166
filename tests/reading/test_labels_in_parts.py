"""Labels that ``privclust apply`` writes in parts are those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.data import rows as base
from privclust.jobs.label import write_labels
from support.estimators import ESTIMATORS

ROWS = [
    record for record in ESTIMATORS if record.name in ("PrivateKMeans", "PrivateKMeans-categories")
]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("record", ROWS, ids=lambda record: record.name)
def test_labels_do_not_depend_on_the_blocks_that_rows_are_read_in(
    record, form, tmp_path, monkeypatch
):
    release, data = record.seeded().release(), record.data()[:200]
    path, output = tmp_path / f"rows.{form}", tmp_path / "labels.csv"
    data.to_csv(path, index=False) if form == "csv" else data.to_parquet(path)
    at_once = release.predict(data)
    assert len(set(at_once)) > 1
    for size in (1, 7, 199, 200):
        monkeypatch.setattr(base, "_BLOCK_ROWS", size)
        parts = []
        write_labels(
            release, path, output, progress=lambda done, _, parts=parts: parts.append(done)
        )
        assert len(parts) == -(-200 // size)
        written = np.loadtxt(output, skiprows=1, dtype=int)
        np.testing.assert_array_equal(written, at_once)
        output.unlink()
