"""Facts as plain data, the structure of schema files: one dict of keys and values per column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields

from privclust.exceptions import SchemaError
from privclust.schema.dialect import Csv
from privclust.schema.facts import Ball, Bins, Box, Categories, Fact

__all__ = ["ball_from", "csv_from", "fact_from", "named", "only_keys"]

# The keys that tell one kind of fact from another in a file.
_FACTS: tuple[tuple[frozenset[str], type[Box] | type[Bins] | type[Categories]], ...] = (
    (frozenset({"low", "high"}), Box),
    (frozenset({"edges"}), Bins),
    (frozenset({"values"}), Categories),
)


def named(name: object, make: Callable[..., Fact], *arguments: object) -> Fact:
    """Make a fact; an error in it names the column."""
    try:
        return make(*arguments)
    except SchemaError as error:
        text = str(error)
        raise SchemaError(f"Column {name!r}: {text[0].lower()}{text[1:]}") from None


def fact_from(entry: object) -> Fact:
    """Make the fact whose keys ``entry`` has."""
    if not isinstance(entry, Mapping):
        raise SchemaError("A column needs a table of facts; give low and high, edges or values.")
    given = [(keys, fact) for keys, fact in _FACTS if keys & entry.keys()]
    if not given:
        known = {key for keys, _ in _FACTS for key in keys}
        only_keys(entry, known | {"missing", "weight", "unknown", "form"}, "the column")
    if len(given) != 1:
        raise SchemaError(
            "A column needs one kind of fact; give either low and high, or edges, or values."
        )
    keys, fact = given[0]
    rules = {"missing", "weight", "unknown" if fact is Categories else "form"}
    only_keys(entry, keys | rules, "the column")
    if keys - entry.keys():
        raise SchemaError("A Box needs both bounds; give low and high.")
    return fact(**entry)


def csv_from(entry: object) -> Csv:
    """Make the dialect of CSV files."""
    only_keys(entry, {field.name for field in fields(Csv)}, "the csv table")
    return Csv(**entry)  # type: ignore[arg-type]  # only_keys lets mappings through, no other


def ball_from(entry: object) -> Ball | None:
    """Make the ball, if one is given."""
    if entry is None:
        return None
    if not isinstance(entry, Mapping) or not {"radius", "center"} <= entry.keys():
        raise SchemaError("The ball needs a radius and a center; give both.")
    only_keys(entry, {"radius", "center"}, "the ball")
    return Ball(**entry)


def only_keys(table: object, allowed: Iterable[str], where: str) -> None:
    """Raise if ``table`` is not a mapping or has a key that means nothing there."""
    if not isinstance(table, Mapping):
        raise SchemaError(f"A table is needed as {where}; write keys and values.")
    for key in table:
        if key not in allowed:
            keys = ", ".join(sorted(allowed))
            raise SchemaError(f"Unknown key {key!r} in {where}; the keys allowed are {keys}.")
