"""What makes an empty ledger: one set of rules, in the words of each database.

``rules.sql`` has the table of entries, and for each rule the condition under which an entry is
refused. ``sqlite.sql`` and ``postgres.sql`` have what only that database needs.
"""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["postgres_script", "sqlite_script"]

# Where the table of entries belongs in the script of a database.
_ENTRIES = "-- entries\n"
_RULE = re.compile(r"^-- rule (\w+): (.+)\n((?:[^-\n].*\n)+)", re.MULTILINE)


def sqlite_script() -> str:
    """Return the statements for SQLite: a trigger for every rule."""
    triggers = [
        f"CREATE TRIGGER privclust_entries_{name} BEFORE INSERT ON privclust_entries\n"
        f"WHEN {condition}BEGIN SELECT RAISE(ABORT, '{message}'); END;\n"
        for name, message, condition in _rules({"DIFFERS FROM": "IS NOT", "LESSER": "min"})
    ]
    # SQLite stores anything in any column, unless it is asked what it was given.
    whole = r"\1 INTEGER NOT NULL CHECK (typeof(\1) = 'integer')"
    own = _text("sqlite.sql").replace(_ENTRIES, _table(whole, "INTEGER"))
    return "\n".join([own, *triggers])


def postgres_script() -> str:
    """Return the statements for PostgreSQL: one function that tries all rules."""
    # Two writers that both saw the same last entry collide on seq, so one of them fails.
    rules = _rules({"DIFFERS FROM": "IS DISTINCT FROM", "LESSER": "least"})
    tried = "".join(
        f"IF {condition}THEN\n    RAISE EXCEPTION '{message}';\nEND IF;\n"
        for _, message, condition in rules
    )
    check = (
        "CREATE FUNCTION privclust_check() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path FROM CURRENT AS $$\nBEGIN\n{tried}RETURN NEW;\nEND $$;\n"
    )
    table = _table(r"\1 bigint NOT NULL", "bigint")
    return _text("postgres.sql").replace(_ENTRIES, f"{table}\n{check}")


def _table(whole: str, position: str) -> str:
    """Return the table of entries with columns of whole numbers as a database declares them."""
    table = _text("rules.sql").partition("-- rule")[0]
    return re.sub(r"(\w+) WHOLE NOT NULL", whole, table).replace("POSITION", position)


def _rules(words: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return name, message and condition of every rule, in the words of a database."""
    text = _text("rules.sql")
    for common, own in words.items():
        text = text.replace(common, own)
    return _RULE.findall(text)


def _text(name: str) -> str:
    return files("privclust.ledger").joinpath(name).read_text("utf-8")
