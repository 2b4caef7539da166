"""Whether two data sets are neighbours: by how much they differ, against what a unit allows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from privclust.unit import MatrixCount, Person, ReplaceRow, Unit
from privclust.unit.matrix import MatrixUnit


def check_neighbours(data: Any, neighbour: Any, unit: Unit) -> None:
    """Refuse data sets that differ by more than the unit allows; the order of rows never counts."""
    if isinstance(unit, MatrixUnit):
        fault = _fault_of_matrices(_dense(data), _dense(neighbour), unit)
    else:
        fault = _fault_of_rows(data, neighbour, unit)
    if fault:
        raise ValueError(
            f"The data sets differ by {fault}, which is more than one step of the unit "
            f"{unit.name!r}; give a neighbour that is one step away."
        )


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def _fault_of_matrices(left: Any, right: Any, unit: Unit) -> str:
    if left.shape != right.shape:
        rows = abs(left.shape[0] - right.shape[0])
        one_row = unit.name == "matrix-row" and rows == 1 and left.shape[1:] == right.shape[1:]
        return "" if one_row else "their shapes"
    gaps = np.abs(left.astype(float) - right.astype(float))
    changed = np.argwhere(gaps)
    if unit.name == "matrix-row":
        rows = len(np.unique(changed[:, 0]))
        return f"{rows} rows" if rows > 1 else ""
    if isinstance(unit, MatrixCount):
        return f"{gaps.sum():g} counts" if gaps.sum() > 1 else ""
    return f"{len(changed)} entries" if len(changed) > 1 else ""


def _fault_of_rows(data: Any, neighbour: Any, unit: Unit) -> str:
    left, right = _rows(data), _rows(neighbour)
    fewer, more = (left - right).total(), (right - left).total()
    if isinstance(unit, Person):
        names = _ids(data, neighbour, unit.id_column, left, right)
        return f"rows of {len(names)} persons" if len(names) > 1 else ""
    if isinstance(unit, ReplaceRow):
        return f"{max(fewer, more)} rows" if max(fewer, more) > 1 or fewer != more else ""
    return f"{fewer + more} rows" if fewer + more > 1 else ""


def _rows(data: Any) -> Counter[str]:
    """Return how often each row occurs, as it is written."""
    values = np.asarray(data, dtype=object) if not hasattr(data, "to_numpy") else data.to_numpy()
    return Counter(map(repr, np.asarray(values, object).tolist()))


def _ids(
    data: Any, neighbour: Any, column: str, left: Counter[str], right: Counter[str]
) -> set[str]:
    """Return whose rows differ."""
    found = set()
    for side, surplus in ((data, left - right), (neighbour, right - left)):
        rows = np.asarray(side.to_numpy(), object).tolist()
        ids = list(side[column])
        found |= {str(name) for row, name in zip(rows, ids, strict=True) if repr(row) in surplus}
    return found
