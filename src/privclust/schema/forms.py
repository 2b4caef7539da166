"""The forms in which a numeric column may be written, and checks that all facts share.

Dates and times count in days since 1970-01-01, durations in the unit that is declared. All bounds,
centres and distances are such numbers; :func:`shown` writes them as a reader expects them.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Literal, get_args

import numpy as np

from privclust.exceptions import SchemaError

# Checks that all facts share: finite numbers, ordered lists, valid text, known words.

# Squares and sums of squares of numbers up to here are finite and keep their digits.
_LARGEST = 1e150

# Beyond these a column would decide all distances, or none.
_LIGHTEST, _HEAVIEST = 1e-6, 1e6


def number(value: object, name: str) -> float:
    """Return a Python float, whose repr round trips exactly."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        dates = ", or a date such as 2024-12-31 (others need a format)" * isinstance(value, str)
        raise SchemaError(
            f"A schema needs a number as {name}, got {value!r}; write a number{dates}."
        )
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not abs(found) <= _LARGEST:
        raise SchemaError(
            f"A schema needs a finite number of at most {_LARGEST} as {name}, got {found!r}; "
            "declare a finite number."
        )
    return found


def weight(value: object) -> float:
    """Return how much a column counts in distances, as a Python float."""
    found = number(value, "weight")
    if not _LIGHTEST <= found <= _HEAVIEST:
        raise SchemaError(
            f"A weight must lie between {_LIGHTEST:g} and {_HEAVIEST:,.0f}, got weight={found!r}; "
            "to leave out the column, ignore it."
        )
    return found


def items(values: object, name: str) -> list[object]:
    """Return the items of an ordered collection; a text is not one, nor is a set."""
    unordered = isinstance(values, (str, bytes, dict, set, frozenset))
    if unordered or not isinstance(values, Iterable):
        raise SchemaError(f"A schema needs a list as {name}, got {values!r}; write a list.")
    return list(values)


def category(value: object) -> str | int | bool:
    """Return a category as a plain Python value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        if not -(2**63) <= int(value) < 2**63:
            raise SchemaError("Categories need integers of at most 64 bits; write them as text.")
        return int(value)
    if not isinstance(value, str):
        raise SchemaError(
            f"Categories need text, integers or booleans, got {value!r}; write it as text."
        )
    return valid_text(value, "a category")


def valid_text(value: str, name: str) -> str:
    """Return ``value`` as plain ``str``; half a surrogate pair could not be written to a file."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(
            f"A schema needs valid Unicode as {name}, got {value!r}; correct the text."
        ) from None
    return str(value)


def one_of(value: object, name: str, allowed: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the words that a rule for categories may be."""
    if value not in allowed:
        options = " or ".join(f'"{option}"' for option in allowed)
        raise SchemaError(f"{name}={value!r} is not a rule for categories; use {options}.")


# The forms in which a numeric column may be written, and what number each stands for.

Form = Literal["number", "integer", "text", "date", "time", "seconds", "minutes", "hours", "days"]

# The units that durations are counted in, in seconds.
DURATIONS: dict[str, int] = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}

_EPOCH = datetime(1970, 1, 1)
_LARGEST_INTEGER = 2**53
_DAY = timedelta(days=1)
_LIKE_A_DATE = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_iso(text: str) -> bool:
    """Return whether a text begins as a date of ISO 8601 does."""
    return _LIKE_A_DATE.match(text) is not None


def form_of(form: object, bounds: Iterable[object]) -> Form:
    """Return the declared form; bounds that are dates or times need not declare theirs."""
    if form not in get_args(Form):
        known = ", ".join(f'"{word}"' for word in get_args(Form))
        raise SchemaError(f"form={form!r} is not known; use one of {known}.")
    if form != "number":
        return form  # type: ignore[return-value]  # checked above
    forms: set[Form] = {_temporal_form(value) for value in bounds}
    if len(forms) > 1:
        raise SchemaError("The bounds are of different forms; write all of them alike.")
    return forms.pop() if forms else "number"


def parse_bound(value: object, name: str, form: Form) -> float:
    """Return the number that a bound stands for."""
    if form in ("date", "time") and type(value) is float:  # as facts keep it
        return number(value, name)
    if form == "date":
        return float((_parse_timestamp(value, name).date() - _EPOCH.date()).days)
    if form == "time":
        # Milliseconds survive the conversion to float64 and back for all years up to 9999.
        milliseconds = round((_parse_timestamp(value, name) - _EPOCH) / timedelta(milliseconds=1))
        return milliseconds / 86_400_000
    if form in DURATIONS and isinstance(value, timedelta):
        value = value / timedelta(seconds=DURATIONS[form])
    found = number(value, name)
    if form == "integer" and (found != round(found) or abs(found) > _LARGEST_INTEGER):
        raise SchemaError(
            f"A column of integers needs a whole number of at most 2^53 as {name}, got {found:g}; "
            'round it, or declare form="number".'
        )
    return found


def format_number(value: float, form: Form) -> str:
    """Return a number of a column as a reader expects it."""
    if form not in ("date", "time"):
        text = f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:g}"
        return f"{text} {form}" if form in DURATIONS else text
    try:
        if form == "date":
            return (_EPOCH + round(value) * _DAY).date().isoformat()
        milliseconds = round(value * 86_400_000)
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except (OverflowError, ValueError):
        return f"{value:g} days since 1970-01-01"
    exact = milliseconds % 1000
    return moment.isoformat(timespec="milliseconds" if exact else "seconds")


def plain_bound(value: float, form: Form) -> float | str:
    """Return a bound as written in a schema file."""
    return format_number(value, form) if form in ("date", "time") else value


def _temporal_form(value: object) -> Form:
    if isinstance(value, (datetime, np.datetime64)):
        day = isinstance(value, np.datetime64) and "T" not in str(value)
        return "date" if day else "time"
    if isinstance(value, date):
        return "date"
    if isinstance(value, str) and _LIKE_A_DATE.match(value):
        return "time" if len(value.strip()) > len("2024-12-31") else "date"
    return "number"


def _parse_timestamp(value: object, name: str) -> datetime:
    """Return a date or time in UTC; one without a zone is used as it is."""
    if isinstance(value, np.datetime64):
        value = str(value.astype("datetime64[us]"))
    if isinstance(value, str):
        value = _parse_value(value.strip(), name)
    if isinstance(value, datetime):
        aware = value.tzinfo is not None
        return _within(lambda: value.astimezone(UTC).replace(tzinfo=None), name) if aware else value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    raise SchemaError(f"A schema needs a date as {name}, got {value!r}; write it as 2024-12-31.")


def _parse_value(text: str, name: str) -> datetime:
    # Python also reads weeks and dates without hyphens, which data must not hold: see dates.py.
    usual = text if _LIKE_A_DATE.match(text) else ""
    return _within(lambda: datetime.fromisoformat(usual), name)


def _within(make: Callable[[], datetime], name: str) -> datetime:
    try:
        return make()
    except (ValueError, OverflowError):
        raise SchemaError(
            f"A schema needs a date as {name} that is in the calendar; write it as 2024-12-31 or "
            "2024-12-31T18:30."
        ) from None
