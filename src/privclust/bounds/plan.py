"""The plan of private bounds: bell-shaped columns of many sizes to rehearse on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from privclust.plan import Measure, Rehearsal
from privclust.unit.rows import RowUnit

MOST_REHEARSED = 100_000
# Bounds that are a few times too wide are useful; those that cannot be found are not.
WIDTH = Measure(
    "width",
    good=3.0,
    hopeless=100.0,
    sentence="Expected {name} of the bounds: {error:.3g} times that of the rows inside them.",
    remedy="raise epsilon, set delta, ask for fewer columns, or gather more rows",
)


def synthetic(
    names: tuple[str, ...], n_rows: int, unit: RowUnit, outside_share: float, seed: int
) -> Rehearsal:
    """Return columns of numbers; the error is how much too wide, or too narrow, the bounds are."""
    rng = np.random.default_rng(seed)
    count = min(n_rows, MOST_REHEARSED)
    sizes = 10.0 ** rng.uniform(-6, 6, len(names))
    rows = (rng.standard_normal((count, len(names))) + rng.uniform(-4, 4, len(names))) * sizes
    columns: dict[str, Any] = dict(zip(names, rows.T, strict=True))
    if unit.id_column is not None:
        columns[unit.id_column] = np.arange(count)
    table = pa.table(columns)
    ends = np.quantile(rows, [outside_share / 2, 1 - outside_share / 2], axis=0)
    true_widths = np.maximum(ends[1] - ends[0], 1e-9 * sizes)

    def error_ratio(model: Any) -> float:
        low, high = model.bounds_
        ratios = (high - low) / true_widths
        # The geometric mean, so that one column that is not found does not decide alone.
        logs = np.abs(np.log(np.maximum(ratios, 1e-300)))
        return float(np.exp(np.minimum(logs, np.log(1e6)).mean()))

    return Rehearsal((table,), error_ratio)
