"""The schema that the column types of a data frame declare."""

from __future__ import annotations

from typing import Any

from privclust._optional import imported
from privclust.exceptions import SchemaError
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema

__all__ = ["schema_of_dtypes"]


def schema_of_dtypes(frame: Any) -> Schema:
    """Return the schema that the column types of a pandas or polars frame declare.

    Pandas categorical columns and polars ``Enum`` columns carry a list of categories, and boolean
    columns need none. No row is looked at. Use it only if the lists were written down from public
    knowledge: ``astype("category")`` makes the list from the rows, and publishing it would reveal
    which values occur.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
    """
    columns = {str(name): _declared(str(name), dtype) for name, dtype in _dtypes(frame)}
    return Schema(columns, note="Taken from the declared column types of a data frame.")


def _dtypes(frame: Any) -> list[tuple[Any, Any]]:
    schema = getattr(frame, "schema", None)
    if isinstance(schema, dict) and imported("polars"):
        return list(schema.items())
    if not hasattr(frame, "dtypes"):
        raise SchemaError("Column types can be read from pandas and polars frames only.")
    return list(frame.dtypes.items())


def _declared(name: str, dtype: Any) -> Categories:
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
