"""The columns that a schema names: each once, declared or ignored."""

from __future__ import annotations

from collections.abc import Sequence

from privclust.exceptions import SchemaError
from privclust.schema.checks import items, valid_text
from privclust.schema.facts import Bins, Box, Categories, Fact

__all__ = ["checked_columns", "checked_ignore"]


def checked_columns(pairs: tuple[tuple[str, Fact], ...]) -> tuple[tuple[str, Fact], ...]:
    """Return the columns of a schema, each named once and declared by a fact."""
    if not pairs:
        raise SchemaError("A schema needs at least one column; declare the columns.")
    seen = set()
    for name, fact in pairs:
        if not isinstance(name, str) or not name:
            raise SchemaError(f"A column name must be text, got {name!r}; name the column.")
        if name in seen:
            raise SchemaError(f"Column {name!r} is declared twice; remove one of them.")
        if not isinstance(fact, (Box, Bins, Categories)):
            raise SchemaError(
                f"Column {name!r} is declared as {type(fact).__name__}; "
                "use Box, Bins or Categories."
            )
        seen.add(name)
    return tuple((valid_text(name, "a column name"), fact) for name, fact in pairs)


def checked_ignore(ignore: Sequence[str], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns to ignore, none of which may be declared."""
    names, taken = items(ignore, "ignore"), set(declared)
    for name in names:
        if not isinstance(name, str) or not name:
            raise SchemaError(f"An ignored column must be text, got {name!r}; name the column.")
        if name in taken:
            raise SchemaError(f"Column {name!r} is declared and ignored; drop one of the two.")
    return tuple(dict.fromkeys(valid_text(str(name), "an ignored column") for name in names))
