"""Coerce anything that describes columns into a schema.

==============================  =====================================================
``schema=`` or ``bounds=``      stands for
==============================  =====================================================
a ``Schema``                    itself
``"columns.toml"``              the schema in the file
``{"age": Box(0, 120), ...}``   ``Schema({...})``; facts may be plain dicts as in a file
``{"columns": {...}, ...}``     ``Schema.from_dict({...})``
``Categories(["no", "yes"])``   a Bins or Categories column of every name
``[Categories(...), ...]``      one fact per column, in their order
``bounds=(low, high)``          ``Schema.from_bounds(low, high)``
==============================  =====================================================
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from privclust._lazy import loaded_module
from privclust.exceptions import SchemaError
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.files import fact_from, make_fact
from privclust.schema.schema import Schema

# The schema that the column types of a data frame declare.


def schema_from_dtypes(frame: Any) -> Schema:
    """Return the schema that the column types of a pandas or polars frame declare.

    Pandas categorical columns and polars ``Enum`` columns carry a list of categories, and boolean
    columns need none. No row is read. Use it only if the lists were written down from public
    knowledge: ``astype("category")`` makes the list from the rows, and publishing it would reveal
    which values occur.
    """
    columns = {str(name): _fact_of_dtype(str(name), dtype) for name, dtype in _dtypes(frame)}
    return Schema(columns, note="Taken from the declared column types of a data frame.")


def _dtypes(frame: Any) -> list[tuple[Any, Any]]:
    schema = getattr(frame, "schema", None)
    if isinstance(schema, dict) and loaded_module("polars"):
        return list(schema.items())
    if not hasattr(frame, "dtypes"):
        raise SchemaError("Column types can be read from pandas and polars frames only.")
    return list(frame.dtypes.items())


def _fact_of_dtype(name: str, dtype: Any) -> Categories:
    values = getattr(dtype, "categories", None)
    if values is None and str(dtype).lower() in ("bool", "boolean"):
        values = [False, True]
    enumerated = "pandas" in type(dtype).__module__ or type(dtype).__name__ in ("Enum", "Boolean")
    if values is None or not (enumerated or str(dtype) == "bool"):
        raise SchemaError(
            f"The type of column {name!r} lists no categories; declare them in a schema, or use a "
            "pandas categorical or a polars Enum."
        )
    listed = values.to_list() if hasattr(values, "to_list") else list(values)
    return Categories(listed, missing="category", unknown="other")


# Every form of a schema, coerced into one.

_FACTS = (Box, Bins, Categories)
_NOT_FROM_DATA = "from public knowledge and never from the data"


def coerce_schema(
    declared: Any,
    *,
    bounds: Any = None,
    names: Sequence[str] | None = None,
    n_columns: int | None = None,
) -> Schema:
    """Return the schema that ``declared`` or ``bounds`` stands for.

    ``names``: the columns of the data, for facts and bounds that do not name them. ``n_columns``:
    their number, if they have no names.
    """
    if declared is not None and bounds is not None:
        raise SchemaError("Both a schema and bounds are declared; drop one of the two.")
    if isinstance(declared, Schema):
        return declared
    if isinstance(declared, (str, PathLike)):
        return Schema.load(declared)
    if isinstance(declared, Mapping):
        return _from_mapping(declared)
    if declared is None:
        return _from_bounds(bounds, names, n_columns)
    return _from_facts(declared, names, n_columns)


def _from_mapping(declared: Mapping[str, Any]) -> Schema:
    if isinstance(declared.get("columns"), Mapping):
        return Schema.from_dict(declared)
    pairs = [
        (name, make_fact(name, fact_from, entry) if isinstance(entry, Mapping) else entry)
        for name, entry in declared.items()
    ]
    return Schema(pairs)


def _from_bounds(bounds: Any, names: Sequence[str] | None, n_columns: int | None) -> Schema:
    if bounds is None:
        raise SchemaError(
            f"No bounds are declared; pass bounds=(low, high) or a schema, {_NOT_FROM_DATA}."
        )
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise SchemaError("bounds must be a pair (low, high); give two bounds.") from None
    return Schema.from_bounds(low, high, names=names, n_columns=n_columns)


def _from_facts(declared: Any, names: Sequence[str] | None, n_columns: int | None) -> Schema:
    """Return the schema of columns that are declared all alike, or one by one in their order."""
    one = isinstance(declared, _FACTS)
    listed = isinstance(declared, (list, tuple))
    if not one and not (listed and all(isinstance(fact, _FACTS) for fact in declared)):
        raise SchemaError(
            f"A schema cannot be made of an object of type {type(declared).__name__}; give a "
            "Schema, the path of a .toml or .json file, or a dict of facts."
        )
    if names is None and n_columns is None and one:
        raise SchemaError("One fact does not say how many columns there are; declare a Schema.")
    width = len(names) if names is not None else n_columns
    facts = [declared] * (width or 0) if one else list(declared)
    labels = [f"x{i}" for i in range(len(facts))] if names is None else list(names)
    if len(facts) != (len(facts) if width is None else width):
        raise SchemaError(
            f"The data have {width} columns but the schema declares {len(facts)}; "
            "give the declared columns in order."
        )
    return Schema(zip(labels, facts, strict=True))


def boxes_from_bounds(
    low: Any, high: Any, names: Sequence[str] | None, n_columns: int | None
) -> list[tuple[str, Fact]]:
    """Return named boxes from bounds that are one for all columns or one per column."""
    lows, highs = _bound_list(low), _bound_list(high)
    given = [("names", names), ("low", lows), ("high", highs)]
    lengths = {what: len(values) for what, values in given if values is not None}
    if n_columns is not None:
        lengths["n_columns"] = n_columns
    if not lengths:
        raise SchemaError(
            "Scalar bounds do not say how many columns there are; say how many, or give one bound "
            "per column."
        )
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{what} {length}" for what, length in lengths.items())
        raise SchemaError(f"The bounds disagree on the number of columns ({listed}); align them.")
    width = next(iter(lengths.values()))
    labels = [f"x{i}" for i in range(width)] if names is None else list(names)
    lows = [low] * width if lows is None else lows
    highs = [high] * width if highs is None else highs
    boxes = zip(labels, lows, highs, strict=True)
    return [(name, make_fact(name, Box, a, b)) for name, a, b in boxes]


def _bound_list(bound: object) -> list[Any] | None:
    """Return the bounds per column, or ``None`` when one number stands for all columns."""
    if isinstance(bound, numbers.Real):
        return None
    if isinstance(bound, np.ndarray) and bound.ndim == 1:
        return list(bound.tolist())
    if isinstance(bound, (list, tuple)):
        return list(bound)
    raise SchemaError("Bounds must be one number, or one number per column; correct low and high.")
