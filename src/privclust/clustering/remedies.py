"""What would help a fit whose clusters noise hides, by rehearsals on synthetic rows alone.

No data are touched and nothing is spent: a rehearsal needs the declared columns and a noisy number
of rows, which is released already.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from privclust.exceptions import LowSignalWarning
from privclust.notes import Code
from privclust.plan import Plan
from privclust.schema.schema import Schema

_DOUBTFUL: set[Code] = {"clusters-hidden", "one-centre-as-good", "rows-unseen"}
# Rehearsals of more numbers take too long to be made unasked.
_MOST_NUMBERS = 300_000
_FEWEST_ROWS, _ROWS_A_CLUSTER = 10, 3
_SURE = 2  # errors of the noisy number of rows, below which it says nothing
_DELTA = 1e-6
_LARGER = (2, 4, 8)  # times ε
_WORTHWHILE = 0.9  # a change is told of if it brings the error at least so far down


def advice(model: Any) -> Iterator[str]:
    """Yield a sentence on what would help a fitted model, if its notes call for one.

    Rehearsals take a moment, so they are not made for a warning that nobody sees.
    """
    arrays, columns = model.release().arrays, model.n_features_in_
    counted = "n_rows" if "n_rows" in arrays else "cluster_sizes"
    n_rows = max(_FEWEST_ROWS, round(float(arrays[counted].sum())))
    error = float(np.linalg.norm(arrays[f"{counted}_error"]))
    doubted = _DOUBTFUL & set(model.release().parameters.get("notes", ()))
    if not doubted or n_rows > _MOST_NUMBERS / columns or not is_shown(LowSignalWarning):
        return
    if n_rows < _SURE * error:
        yield "Noise hides even the number of rows; ask for far fewer clusters, or raise ε."
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield _sentence(model, n_rows, columns)


def is_shown(category: type[Warning]) -> bool:
    """Return whether a warning of this kind, wherever it comes from, is not simply ignored."""
    for action, message, kind, module, line in warnings.filters:
        if issubclass(category, kind) and message is None and module is None and not line:
            return action != "ignore"
    return True


def _sentence(model: Any, n_rows: int, n_columns: int) -> str:
    k = getattr(model, "n_clusters_", 1)
    if n_rows < _ROWS_A_CLUSTER * k:
        return f"There are only about {n_rows:,} rows for {k} clusters; ask for far fewer."
    now: Plan = model.plan(n_rows, n_columns)
    before = (
        f"Rehearsed without data for about {n_rows:,} rows, the expected {now.measure.name} is "
        f"{now.error_ratio:.3g} times that without privacy"
    )
    if now.error_ratio <= now.measure.good:
        return f"{before} where clusters are clear: the rows may have fewer, so ask for fewer."
    changes = [
        f"{plan.error_ratio:.3g} times with {words}"
        for words, plan in _changes(model, n_rows, n_columns, now)
        if plan.error_ratio <= _WORTHWHILE * now.error_ratio
    ]
    if not changes:
        return f"{before}, and no small change of the fit would help; gather more rows."
    listed = " and ".join(filter(None, (", ".join(changes[:-1]), changes[-1])))
    return f"{before}; it would be {listed}."


def _changes(model: Any, n_rows: int, n_columns: int, now: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield changes of the fit, in words, each with its plan."""

    def plan(columns: int = n_columns, **changed: Any) -> Plan:
        rehearsed: Plan = clone(model).set_params(**changed).plan(n_rows, columns)
        return rehearsed

    spent = model.privacy_
    within = {"epsilon": spent.epsilon, "delta": spent.delta, "budget": None}
    if not spent.delta:
        delta = min(_DELTA, float(f"{0.1 / n_rows:.0e}"))
        yield f"δ = {delta:g}", plan(**within | {"delta": delta})
    for times in _LARGER:
        larger = plan(**within | {"epsilon": times * spent.epsilon})
        if larger.error_ratio <= now.measure.good or times == _LARGER[-1]:
            yield f"ε = {float(times * spent.epsilon):g}", larger
            break
    k = getattr(model, "n_clusters_", 0)
    if hasattr(model, "n_clusters") and k >= 4:
        yield f"{k // 2} clusters", plan(n_clusters=k // 2)
    fewer = n_columns // 2
    if fewer >= 2 and model.schema is not None:
        names = Schema.of(model.schema).names[:fewer]
        words = f"{fewer} of the {n_columns} columns"
        yield words, plan(fewer, schema=Schema.of(model.schema).only(names))
