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

_DOUBTFUL: set[Code] = {
    "clusters-hidden", "components-hidden", "one-centre-as-good", "rows-unseen", "shapes-hidden"
}  # fmt: skip
# What families call the number of groups that they are asked for, and these groups.
_ASKED_FOR = {"n_clusters": "clusters", "n_components": "components"}
# Rehearsals of more numbers take too long to be made unasked.
_MOST_NUMBERS = 300_000
_FEWEST_ROWS, _ROWS_A_CLUSTER = 10, 3
_SURE = 2  # errors of the noisy number of rows, below which it says nothing
_DELTA = 1e-6
_LARGER = (2, 4, 8)  # times ε
_WORTHWHILE = 0.9  # a change is told of if it brings the error at least so far down


def advice(model: Any, fewest_columns: int = 2) -> Iterator[str]:
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
        fewer = f"ask for far fewer {_groups_of(model)[1]}, or " if _groups_of(model)[0] else ""
        yield f"Noise hides even the number of rows; {fewer}raise ε."
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield _sentence(model, n_rows, columns, fewest_columns)


def is_shown(category: type[Warning]) -> bool:
    """Return whether a warning of this kind, wherever it comes from, is not simply ignored."""
    for action, message, kind, module, line in warnings.filters:
        if issubclass(category, kind) and message is None and module is None and not line:
            return action != "ignore"
    return True


def _groups_of(model: Any) -> tuple[int, str, str]:
    """Return how many groups a model was asked for, what they are called, and its parameter."""
    for parameter, noun in _ASKED_FOR.items():
        if hasattr(model, parameter):
            return int(getattr(model, f"{parameter}_")), noun, parameter
    return 0, "clusters", ""


def _sentence(model: Any, n_rows: int, n_columns: int, fewest_columns: int) -> str:
    k, noun, _ = _groups_of(model)
    if n_rows < _ROWS_A_CLUSTER * k:
        return f"There are only about {n_rows:,} rows for {k} {noun}; ask for far fewer."
    now: Plan = model.plan(n_rows, n_columns)
    measure = now.measure
    before = (
        f"Rehearsed without data for about {n_rows:,} rows, the expected {measure.name} is "
        f"{measure.short.format(error=now.error_ratio)}{measure.relative}"
    )
    if now.error_ratio <= measure.good:
        but = "fewer, so ask for fewer" if k else "none"
        return f"{before} where clusters are clear: the rows may have {but}."
    changes = [
        f"{measure.short.format(error=plan.error_ratio)} with {words}"
        for words, plan in _changes(model, n_rows, n_columns, now, fewest_columns)
        if plan.error_ratio <= _WORTHWHILE * now.error_ratio
    ]
    if not changes:
        return f"{before}, and no small change of the fit would help; gather more rows."
    listed = " and ".join(filter(None, (", ".join(changes[:-1]), changes[-1])))
    return f"{before}; it would be {listed}."


def _changes(
    model: Any, n_rows: int, n_columns: int, now: Plan, fewest_columns: int
) -> Iterator[tuple[str, Plan]]:
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
    k, noun, parameter = _groups_of(model)
    if k >= 4:
        yield f"{k // 2} {noun}", plan(**{parameter: k // 2})
    fewer = n_columns // 2
    if fewer >= fewest_columns and model.schema is not None:
        names = Schema.of(model.schema).names[:fewer]
        words = f"{fewer} of the {n_columns} columns"
        yield words, plan(fewer, schema=Schema.of(model.schema).only(names))
