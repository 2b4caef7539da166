"""Schemas from and to CSVW-EO, the JSON-LD for public facts about private tables.

CSVW-EO (https://w3id.org/csvw-eo) is CSV on the Web with bounds, public keys and contribution
bounds. Facts become those of a schema: a column with bounds a Box, one with bounded partitions
Bins, one with keys Categories; the column that names people is not read as data. The ``default`` of
a number is what stands for a missing one, ``titles`` is the label of a column and
``dc:description`` its description. Proportions of missing values and lengths of partitions are not
taken over: a schema has no statistics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from privclust.exceptions import SchemaError

CONTEXT = ["http://www.w3.org/ns/csvw", "csvw-eo-context.jsonld"]
_INTEGERS = {
    "integer", "long", "int", "short", "byte", "positiveInteger", "nonNegativeInteger",
    "negativeInteger", "nonPositiveInteger", "unsignedLong", "unsignedInt", "unsignedShort",
    "unsignedByte",
}  # fmt: skip
_NUMBERS = _INTEGERS | {"decimal", "double", "float", "number"}
_TIMES = frozenset({"date", "dateTime", "dateTimeStamp", "datetime"})
_ADD = "add them to the file"


def document_from_csvw(text: str) -> dict[str, Any]:
    """Return the plain structure of the schema that a CSVW-EO text describes."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        raise SchemaError("The JSON-LD file is not valid JSON; check the file.") from None
    schema = table.get("tableSchema") if isinstance(table, Mapping) else None
    listed = schema.get("columns") if isinstance(schema, Mapping) else None
    if not isinstance(listed, list) or not all(isinstance(column, Mapping) for column in listed):
        raise SchemaError(
            "The JSON-LD file has no list of columns; put it under 'tableSchema', 'columns'."
        )
    person = table.get("privacyUnit")
    ids = [
        _name_of(column) for column in listed
        if column.get("privacyId") is True or column.get("name") == person
    ]  # fmt: skip
    columns = {
        name: _fact_of(name, column)
        for name, column in ((_name_of(column), column) for column in listed)
        if name not in ids
    }
    document: dict[str, Any] = {"columns": columns}
    notes = []
    if ids:
        document["ignore"] = ids
        most = table.get("maxContributions", "how many rows count")
        notes.append(f"From CSVW-EO, whose unit is Person({ids[0]!r}, {most}).")
    if unruled := [_name_of(column) for column in listed if _lacks_rule(column, columns)]:
        notes.append(
            f"Numbers may be missing in {', '.join(unruled)}, for which no default is given: a fit "
            "stops at one; declare missing = a usual value."
        )
    return document | ({"note": " ".join(notes)} if notes else {})


def _lacks_rule(column: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Return whether a column of numbers may have missing ones, and nothing stands for them."""
    fact = facts.get(_name_of(column), {})
    return column.get("required") is False and "low" in fact and "missing" not in fact


def _name_of(column: Mapping[str, Any]) -> str:
    name = column.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError("A column of the JSON-LD file has no name; add one.")
    return name


def _fact_of(name: str, column: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a column declares, and what it tells readers."""
    titles = column.get("titles", "")
    if isinstance(titles, Mapping):  # by language
        titles = next(iter(titles.values()), "")
    label = titles[0] if isinstance(titles, list) and titles else titles
    told = {"label": label, "description": column.get("dc:description", "")}
    texts = {key: text for key, text in told.items() if isinstance(text, str) and text}
    return _plain_fact(name, column) | texts


def _plain_fact(name: str, column: Mapping[str, Any]) -> dict[str, Any]:
    datatype = column.get("datatype", "string")
    datatype = datatype.get("base", "string") if isinstance(datatype, Mapping) else datatype
    optional = column.get("required") is False
    if datatype in _NUMBERS | _TIMES:
        return _numeric_fact(name, column, optional, datatype in _INTEGERS)
    if datatype not in ("string", "boolean"):
        raise SchemaError(
            f"Column {name!r} has the datatype {datatype!r}, which a schema cannot hold; declare "
            "it as a number, a date, a dateTime or a string."
        )
    values = _keys_of(column) or ([False, True] if datatype == "boolean" else [])
    if not values:
        raise SchemaError(f"Column {name!r} has no keyValues in the JSON-LD file; {_ADD}.")
    known = column.get("exhaustiveKeys", True) or datatype == "boolean"
    fact = {"values": values, "unknown": "error" if known else "other"}
    return fact | ({"missing": "category"} if optional else {})


def _numeric_fact(
    name: str, column: Mapping[str, Any], optional: bool, whole: bool
) -> dict[str, Any]:
    edges, form = _edges_of(column), {"form": "integer"} if whole else {}
    if edges:
        return {"edges": edges, **form} | ({"missing": "category"} if optional else {})
    low, high = column.get("minimum"), column.get("maximum")
    if low is None or high is None:
        raise SchemaError(
            f"Column {name!r} has no minimum and maximum in the JSON-LD file; {_ADD}, from what "
            "is public."
        )
    fact = {"low": low, "high": high, **form}
    return fact | _rule_of(name, column, low)


def _rule_of(name: str, column: Mapping[str, Any], low: Any) -> dict[str, Any]:
    """Return the rule for missing numbers: the public default, or none."""
    default = column.get("default")
    if default is None or isinstance(low, str):
        return {} if default is None else {"missing": default}
    try:
        return {"missing": float(default)}
    except (TypeError, ValueError):
        raise SchemaError(
            f"Column {name!r} has a default that is not a number; correct it in the JSON-LD file."
        ) from None


def _keys_of(column: Mapping[str, Any]) -> list[Any]:
    """Return the public keys of a column, listed by themselves or as partitions."""
    keys = column.get("keyValues") or column.get("partitions") or []
    values = [
        key.get("predicate", {}).get("partitionValue") if isinstance(key, Mapping) else key
        for key in keys
    ]
    return [] if None in values else values


def _edges_of(column: Mapping[str, Any]) -> list[Any]:
    """Return the edges of partitions that lie side by side; none if they do not."""
    predicates = [
        part.get("predicate", {}) for part in column.get("partitions") or []
        if isinstance(part, Mapping)
    ]  # fmt: skip
    bounds = [(part.get("lowerBound"), part.get("upperBound")) for part in predicates]
    joined = all(one[1] == two[0] for one, two in pairwise(bounds))
    if not bounds or not joined or any(None in pair for pair in bounds):
        return []
    return [bounds[0][0], *(high for _, high in bounds)]


def csvw_from_document(
    document: Mapping[str, Any], *, id_column: str | None = None, max_rows: int = 1
) -> str:
    """Return a schema's plain structure as CSVW-EO text, with the unit of people if there is one.

    Weights, units, the ball and the dialect of CSV files have no place there.
    """
    columns = [_column(name, fact) for name, fact in document["columns"].items()]
    table: dict[str, Any] = {"@context": CONTEXT, "@type": "Table", "maxContributions": max_rows}
    if id_column is not None:
        table["privacyUnit"] = id_column
        person = {"datatype": "string", "required": True, "privacyId": True}
        columns.append({"@type": "Column", "name": id_column, **person})
    table["tableSchema"] = {"columns": columns}
    return json.dumps(table, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _column(name: str, fact: Mapping[str, Any]) -> dict[str, Any]:
    column: dict[str, Any] = {"@type": "Column", "name": name, "datatype": "string"}
    told = {"titles": fact.get("label", ""), "dc:description": fact.get("description", "")}
    column |= {key: text for key, text in told.items() if text}
    required = {"required": fact.get("missing", "error") == "error", "privacyId": False}
    if "values" in fact:
        values = list(fact["values"])
        exhaustive = fact.get("unknown", "error") == "error"
        keys = {"keyValues": values, "invariantPublicKeys": True, "exhaustiveKeys": exhaustive}
        # Integers as keys are declared as text: a number without bounds would be refused.
        kind = "boolean" if isinstance(values[0], bool) else "string"
        return column | {"datatype": kind} | required | keys | {"maxNumPartitions": len(values)}
    edges = list(fact.get("edges") or (fact["low"], fact["high"]))
    bounds = {"minimum": edges[0], "maximum": edges[-1]}
    column |= {"datatype": _datatype(edges[0], fact.get("form"))} | required | bounds
    if "low" in fact and not required["required"]:
        column["default"] = str(fact["missing"])  # CSVW writes defaults as text
    if "edges" in fact:
        column["partitions"] = [
            {"@type": "Partition", "predicate": {"lowerBound": low, "upperBound": high}}
            for low, high in pairwise(edges)
        ]
    return column


def _datatype(bound: Any, form: str | None) -> str:
    if not isinstance(bound, str):
        return "integer" if form == "integer" else "double"
    return "date" if len(bound) == len("2025-01-31") else "dateTime"
