"""Adding labels to a data frame as a column, in the frame's own library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._optional import imported, is_a
from privclust.exceptions import ReleaseError

__all__ = ["check_new_column", "with_column"]


def check_new_column(frame: Any, column: str) -> None:
    """Raise if a column of this name cannot be added to the frame."""
    if not any(is_a(frame, *kind) for kind in _ADDERS):
        raise ReleaseError(
            f"A column cannot be added to an object of type {type(frame).__name__}; give a pandas "
            "or polars frame or an Arrow table, or use predict."
        )
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    if column in names:
        raise ReleaseError(f"Column {column!r} is there already; name another for the labels.")


def with_column(frame: Any, column: str, labels: npt.NDArray[np.int64]) -> Any:
    """Return the frame with the labels added as its last column."""
    return next(add for kind, add in _ADDERS.items() if is_a(frame, *kind))(frame, column, labels)


_ADDERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): lambda frame, name, labels: frame.assign(**{name: labels}),
    ("polars", "DataFrame"): lambda frame, name, labels: frame.with_columns(
        imported("polars").Series(name, labels)
    ),
    ("pyarrow", "Table"): lambda frame, name, labels: frame.append_column(name, pa.array(labels)),
}
