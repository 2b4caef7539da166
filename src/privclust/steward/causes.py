"""Why values do not read as declared, and what to declare instead: for the steward's eyes alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace

from privclust.schema.facts import Categories, Fact
from privclust.schema.forms import Form
from privclust.schema.writing import Writing, writes_moments, writes_numbers
from privclust.steward.likely import (
    declaration_of,
    likely_words,
    likely_writings,
    nearly_all,
    reads_most,
)

_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


def likely_cause(
    odd: Counter[str], fine: Counter[str], fact: Fact, writing: Writing, kinds: Set[str]
) -> str | None:
    """Return the declaration that would read the values, if one is likely.

    ``odd``: values that do not read as declared; ``fine``: some that do, and still must.
    ``kinds``: the kinds of the column.
    """
    if any(_UNREADABLE in text for text in odd):
        return "declare another encoding of the file, such as --encoding cp1252"
    if isinstance(fact, Categories):
        return _of_categories(odd, fact, kinds)
    if writes_moments(writing.form):
        return _of_moments(odd, writing, kinds)
    return _of_numbers(odd, fine, writing, kinds)


def _of_moments(odd: Counter[str], writing: Writing, kinds: Set[str]) -> str | None:
    found = likely_writings(odd, replace(writing, format=None))
    if found:
        return _declare(found)
    if kinds & {"integer", "float"}:
        return "they are numbers, so declare numbers as bounds"
    return None


def _of_numbers(
    odd: Counter[str], fine: Counter[str], writing: Writing, kinds: Set[str]
) -> str | None:
    if kinds & {"date", "moment"}:
        return 'they are dates, so declare dates as bounds, such as low = "2020-01-01"'
    if "duration" in kinds:
        return 'they are durations, so declare form = "hours" or the like'
    if writes_numbers(writing.form):
        usual = replace(writing, form="text" if "text" in kinds else writing.form)
        found = likely_writings(odd, usual)
        if found := [w for w in found if not fine or reads_most(fine, w)] or found:
            return _declare(found, form=writing.form)
    for moment in likely_writings(odd, Writing("date"))[:1]:
        how = f" and {declaration_of(moment)}" if moment.format else ""
        return f'they are dates, so declare dates as bounds, such as low = "2020-01-01",{how}'
    if likely_words(odd):
        listed = ", ".join(f'"{word}"' for word in sorted(odd)[:5])
        return f"they are words, so declare values = [{listed}] in place of bounds"
    return None


def _declare(found: list[Writing], form: Form | None = None) -> str:
    """Return the cure: what reads the values, and what reads them as well but differently."""
    as_text = 'form = "text"' if found[0].form == "text" != form and form else ""
    told = [" and ".join(filter(None, (as_text, declaration_of(w)))) for w in found[:2]]
    return (
        f"they read with {told[0]}"
        + "".join(f", or {other}" for other in told[1:])
        + ", so declare that"
    )


def _of_categories(odd: Counter[str], fact: Categories, kinds: Set[str]) -> str | None:
    if fact.kind == "boolean":
        words = likely_words(odd)
        if words is None:
            return None
        yes, no = (", ".join(f'"{word}"' for word in part) for part in words)
        return f"declare true = [{yes}] and false = [{no}] for it"
    if fact.kind == "text" and kinds & {"integer", "float", "decimal", "boolean"}:
        return "the column is not text, so list its values without quotes"
    if fact.kind == "integer" and "text" in kinds:
        return "the column holds text, so list its values in quotes"
    listed = {_fold(str(value)) for value in fact.values}
    if nearly_all(odd, lambda text: _fold(text) in listed):
        return "they differ from listed ones in case, spaces or .0 only, so list them as written"
    return None


def _fold(text: str) -> str:
    short = " ".join(text.casefold().split())
    return short.removesuffix(".0")
