"""Schemas as plain data and as JSON or TOML files, with one-sentence errors.

TOML is read by the standard library, which cannot write it; a schema has a fixed shape (a note,
columns to ignore, one table per column, one for the ball, one for CSV), so the writer here is a few
lines and needs no dependency.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from privclust.exceptions import SchemaError, did_you_mean
from privclust.schema.ball_fact import Ball
from privclust.schema.csvw import document_from_csvw
from privclust.schema.dialect import Csv
from privclust.schema.facts import Bins, Box, Categories, Fact

# Facts as plain data, the structure of schema files: one dict of keys and values per column.

# The keys that tell one kind of fact from another in a file.
_FACTS: tuple[tuple[frozenset[str], type[Box] | type[Bins] | type[Categories]], ...] = (
    (frozenset({"low", "high"}), Box),
    (frozenset({"edges"}), Bins),
    (frozenset({"values"}), Categories),
)
_RULES = frozenset({"missing", "weight", "label", "description"})
_OF_CATEGORIES = frozenset({"unknown", "true", "false"})
_OF_NUMBERS = frozenset({"form", "integer", "format", "decimal", "thousands", "unit"})


def make_fact(name: object, make: Callable[..., Fact], *arguments: object) -> Fact:
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
        check_keys(entry, known | _RULES | _OF_CATEGORIES | _OF_NUMBERS, "the column")
    if len(given) != 1:
        raise SchemaError(
            "A column needs one kind of fact; give either low and high, or edges, or values."
        )
    keys, fact = given[0]
    own = _OF_CATEGORIES if fact is Categories else _OF_NUMBERS
    check_keys(entry, keys | _RULES | own, "the column")
    if keys - entry.keys():
        raise SchemaError("A Box needs both bounds; give low and high.")
    return fact(**_with_form(entry))


def _with_form(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a fact, in which ``integer = true`` is the form of whole numbers."""
    given = dict(entry)
    whole = given.pop("integer", False)
    if not isinstance(whole, bool) or (whole and given.get("form", "integer") != "integer"):
        raise SchemaError("integer = true says that numbers are whole; drop the other form.")
    return {**given, "form": "integer"} if whole else given


def csv_from(entry: object) -> Csv:
    """Make the dialect of CSV files."""
    check_keys(entry, {field.name for field in fields(Csv)}, "the csv table")
    return Csv(**entry)  # type: ignore[arg-type]  # check_keys lets mappings through, no other


def ball_from(entry: object) -> Ball | None:
    """Make the ball, if one is given."""
    if entry is None:
        return None
    if not isinstance(entry, Mapping) or not {"radius", "center"} <= entry.keys():
        raise SchemaError("The ball needs a radius and a center; give both.")
    check_keys(entry, {"radius", "center"}, "the ball")
    return Ball(**entry)


def check_keys(table: object, allowed: Iterable[str], where: str) -> None:
    """Raise if ``table`` is not a mapping or has a key that means nothing there."""
    if not isinstance(table, Mapping):
        raise SchemaError(f"A table is needed as {where}; write keys and values.")
    for key in table:
        if key not in allowed:
            keys = ", ".join(sorted(allowed))
            raise SchemaError(
                f"Unknown key {key!r} in {where}{did_you_mean(key, allowed)}; the keys allowed are "
                f"{keys}."
            )


# Schema files: JSON and TOML text to and from plain dicts, with one-sentence errors.

T = TypeVar("T")

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the content of a ``.json``, ``.toml`` or ``.jsonld`` (CSVW-EO) file."""
    parsers = {".json": parse_json, ".toml": parse_toml, ".jsonld": document_from_csvw}
    parse = _by_suffix(path, parsers)
    try:
        # Editors on some systems put a byte order mark in front.
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SchemaError(f"Schema file '{path}' was not found; check the path.") from None
    except (OSError, UnicodeDecodeError):
        raise SchemaError(
            f"Schema file '{path}' cannot be read as UTF-8 text; check the file."
        ) from None
    return parse(text)


def save(path: str | PathLike[str], writers: Mapping[str, Callable[[], str]]) -> None:
    """Write the text that the writer for the file's suffix returns."""
    text = _by_suffix(path, writers)()
    try:
        Path(path).write_bytes(text.encode("utf-8"))
    except OSError:
        raise SchemaError(
            f"Schema file '{path}' cannot be written; choose a writable path."
        ) from None


def parse_json(text: str) -> dict[str, Any]:
    """Return the object in a JSON text; a repeated key is an error."""
    content = _parse("JSON", partial(json.loads, object_pairs_hook=_no_repeats), text)
    if not isinstance(content, dict):
        raise SchemaError("The schema must be a JSON object; put it in braces.")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table in a TOML text."""
    content: dict[str, Any] = _parse("TOML", tomllib.loads, text)
    return content


def toml_text(document: Mapping[str, Any]) -> str:
    """Return the TOML text of a schema's plain structure."""
    lines: list[str] = []
    if note := document.get("note"):
        lines += [f"# {_comment(note)}", f"note = {_value(note)}", ""]
    if ignore := document.get("ignore"):
        lines += [f"ignore = {_value(ignore)}", ""]
    for name, entry in document["columns"].items():
        lines += _section(f"columns.{_key(name)}", entry)
    for title in ("ball", "csv"):
        if title in document:
            lines += _section(title, document[title])
    return "\n".join(lines)


_FILL_IN = """\
# numbers:    low = 0          high = 100      missing = 50
# dates:      low = 2020-01-01 high = 2024-12-31   format = "%d.%m.%Y"
# categories: values = ["a", "b"]   missing = "category"   unknown = "other"
"""


def skeleton_text(names: Iterable[str], ignore: Iterable[str], csv: Csv) -> str:
    """Return a schema file to fill in: a section for each column, without facts."""
    lines = [
        "# A skeleton from the names of the columns; no row was read. Write under each column what",
        "# is publicly known of it, in one of these ways, or move its name to ignore:",
        _FILL_IN,
        f"ignore = {_value(list(ignore))}",
        "",
    ]
    for name in names:
        lines += _section(f"columns.{_key(name)}", {})
    if csv != Csv():
        lines += _section("csv", csv.to_dict())
    return "\n".join(lines)


def _section(title: str, entry: Mapping[str, Any]) -> list[str]:
    return [f"[{title}]", *(f"{key} = {_value(value)}" for key, value in entry.items()), ""]


def _value(value: str | bool | int | float | list[Any]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quote(value) if isinstance(value, str) else repr(value)


def _quote(text: str) -> str:
    # JSON's escapes are TOML's, except that JSON leaves DEL as it is and TOML forbids it.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quote(name)


def _comment(note: str) -> str:
    return "".join(char if char.isprintable() else " " for char in note)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise SchemaError(f"{key!r} is declared twice in the schema; remove one of them.")
        table[key] = value
    return table


def _parse(language: str, parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except SchemaError:
        raise
    except (ValueError, RecursionError) as error:
        # The parser's own words, without a full stop: ours stay one sentence.
        said = str(error).rstrip(".")
        raise SchemaError(f"The schema is not valid {language} ({said}); correct it.") from None


def _by_suffix(path: str | PathLike[str], choices: Mapping[str, T]) -> T:
    suffix = Path(path).suffix.lower().replace("-", "")  # some write .json-ld
    if suffix not in choices:
        raise SchemaError(f"Schema file '{path}' must end in .json, .toml or .jsonld; rename it.")
    return choices[suffix]
