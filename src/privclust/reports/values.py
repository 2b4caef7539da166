"""Released values as a reader expects them: dates as dates, shares in percent, never ``1.8e+02``.

What a column is called, its unit and its form come from the schema. A value is rounded to what its
error leaves of it, and one that noise hides is not shown as a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.forms import DURATIONS
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    from privclust.release.release import Release

# The factor of what follows a ±: the truth is within it in about 19 of 20 cases.
TWO_ERRORS = "± 2 errors"
HIDDEN = "hidden by noise"
CATEGORY_RULE = "counted as a category"
# A range of two errors to each side that covers this share of what is possible says nothing.
_NOTHING_KNOWN = 0.9
_DAY = 86_400.0  # seconds
# From how many days of two errors on a date is no more than a year or a month; how much of it is
# shown, and the unit of its error, in days and in words. Errors are two of these units at least.
_COARSE = ((730, 4, 365.25, "years"), (46, 7, 30.44, "months"))
# Units of time that an error is told in, the longest first, each with its seconds.
_TIMES = (("days", _DAY), ("hours", 3600.0), ("minutes", 60.0))
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COMMA = 10_000  # whole numbers from here on are written with a comma
_WIDE = 20  # means of whole numbers over a range at least this wide are shown as whole numbers


def column_label(name: str, fact: Fact | None = None) -> str:
    """Return what readers call a column: its label, or its name in words."""
    return (fact.label if fact is not None else "") or name.replace("_", " ").strip() or name


def category_labels(fact: Bins | Categories) -> list[str]:
    """Return what readers call the categories of a column."""
    if isinstance(fact, Categories):
        values = [str(value) for value in fact.values]
        if fact.kind == "boolean":
            values = ["yes" if value else "no" for value in fact.values]
    else:
        edges, unit = [_as_declared(edge, fact) for edge in fact.edges], _with_space(_unit(fact))
        values = [f"{low} to {high}{unit}" for low, high in pairwise(edges)]
    extra = [label.strip("()") for label in fact.labels[len(values) :]]
    return [*values, *extra]


def coordinate_labels(schema: Schema) -> list[str]:
    """Return a name for each coordinate of a centre: ``age``, or ``sex: f`` and ``sex: m``."""
    names: list[str] = []
    for column in Coordinates(schema).columns:
        label = column_label(column.name, column.fact)
        if isinstance(column.fact, Box):
            names.append(label)
        else:
            names += [f"{label}: {value}" for value in category_labels(column.fact)]
    return names


def coordinate_facts(schema: Schema) -> list[Box | None]:
    """Return the fact of each coordinate that is a number; None for the share of a category."""
    return [
        column.fact if isinstance(column.fact, Box) else None
        for column in Coordinates(schema).columns
        for _ in range(column.size)
    ]


def is_share(fact: Box | None) -> bool:
    """Return whether a mean is a share: of a category, or of the ones among zeros and ones."""
    return fact is None or (fact.form == "integer" and (fact.low, fact.high) == (0, 1))


def describe(fact: Box | None, value: float, error: float | None = None) -> str:
    """Return a released mean with its unit, and two of its standard errors to each side.

    ``fact``: what is declared of the column; None for the share of a category. ``error``: one
    standard error; None if it is not known, or is told elsewhere.
    """
    if fact is None or is_share(fact):
        return describe_share(value, error)
    if error is not None and 4 * error >= _NOTHING_KNOWN * (fact.high - fact.low):
        return HIDDEN
    value = min(max(value, fact.low), fact.high)
    if fact.form in ("date", "time"):
        return _moment(fact, value, error)
    digits = _digits(fact, error)
    text = _of_column(fact, value, digits)
    if error is None and "." in text and value == round(value):
        text = text.rstrip("0").rstrip(".")
    told = "" if error is None else f" ± {format_number(max(2 * error, 10.0**-digits), digits)}"
    return f"{text}{told}{_with_space(_unit(fact))}"


def describe_width(fact: Box, width: float) -> str:
    """Return how widely numbers of a column spread, in its unit."""
    unit = "days" if fact.form in ("date", "time") else _unit(fact)
    digits = 2 - math.floor(math.log10(width)) if width > 0 else 0
    return f"{format_number(width, digits)}{_with_space(unit)}"


def describe_tick(fact: Box | None, value: float) -> str:
    """Return a place on an axis, also beyond the bounds: a round number, or a date."""
    if fact is None or is_share(fact):
        return f"{100 * value:.3g} %".replace("-", "−")
    if fact.form in ("date", "time"):
        return fact.shown(value)[:10]
    return f"{_as_declared(float(f'{value:.10g}'), fact)}{_with_space(_unit(fact))}"


def describe_about(fact: Box | None, value: float, error: float | None) -> str:
    """Return a released mean as a sentence has it: rounded by its error, which is not told."""
    if fact is None or is_share(fact):
        return percent_of(min(max(value, 0.0), 1.0))
    if fact.form in ("date", "time"):
        return _moment(fact, value, error).partition(" ±")[0]
    # A digit less than the range has in all; whole numbers are not rounded twice.
    digits = min(_digits(fact, error), 2 - math.floor(math.log10(fact.high - fact.low)))
    return f"{_of_column(fact, value, digits)}{_with_space(_unit(fact))}"


def describe_range(fact: Fact) -> str:
    """Return what is declared of a column, in words."""
    if isinstance(fact, Categories):
        return count_of(len(fact.values), "category", "categories")
    ends = (fact.low, fact.high) if isinstance(fact, Box) else (fact.edges[0], fact.edges[-1])
    low, high = (_as_declared(end, fact) for end in ends)
    span = f"{low} to {high}{_with_space(_unit(fact))}"
    return span if isinstance(fact, Box) else f"{count_of(len(fact.edges) - 1, 'bin')} from {span}"


def describe_share(share: float, error: float | None = None) -> str:
    """Return a share in percent; a range where the errors reach beyond what is possible."""
    share = min(max(share, 0.0), 1.0)
    if error is None or 200 * error < 0.05:
        return percent_of(share)
    low, high = share - 2 * error, share + 2 * error
    if min(high, 1.0) - max(low, 0.0) >= _NOTHING_KNOWN:
        return HIDDEN
    if low < 0 or high > 1:
        ends = [f"{100 * end:.0f}" for end in (max(low, 0.0), min(high, 1.0))]
        return f"{' to '.join(dict.fromkeys(ends))} %"
    return f"{percent_of(share)} ± {format_error(200 * error)}"


def percent_of(share: float) -> str:
    """Return a share in percent, as a reader expects it."""
    value = 100 * share
    return f"{value:.1f} %" if 0.05 <= value < 1 else f"{value:.0f} %"


def describe_size(size: float, error: float) -> str:
    """Return a noisy number of rows; a bound where noise hides it, and never one below zero."""
    if size <= 2 * error:
        return f"at most {format_number(max(size, 0.0) + 2 * error, 0)}"
    return f"{_rows(size, error)} ± {format_error(2 * error)}"


def describe_count(size: float, error: float) -> str:
    """Return a noisy number of rows in a sentence: about a number, or at most one."""
    if size <= 2 * error:
        return describe_size(size, error)
    return f"about {_rows(size, error)}"


def _rows(size: float, error: float) -> str:
    """Return a number of rows, rounded by its error to a whole number or more."""
    return format_number(size, min(_digits_of(_two(error)), 0))


def missing_rule(fact: Fact) -> str:
    """Return what was done with missing values of a column; nothing if none are allowed."""
    if fact.missing == "error":
        return ""
    if isinstance(fact, Box):
        constant = _as_declared(float(fact.missing), fact)
        return f"counted as {constant}{_with_space(_unit(fact))}"
    return "left out" if fact.missing == "omit" else CATEGORY_RULE


# How many values a rule stood for, in words, by the name of the column.
Counted = Mapping[str, str]


def counted_missing(release: Release) -> Counted:
    """Return how many values rules stood for, as far as that was asked."""
    arrays = release.arrays
    for name in ("missing_counts", "missing"):  # the latter of bounds
        if name in arrays:
            n_rows = float(arrays["n_rows" if "n_rows" in arrays else "cluster_sizes"].sum())
            told = zip(arrays[name].tolist(), arrays[f"{name}_error"].tolist(), strict=True)
            words = (_missing_size(*each, n_rows) for each in told)
            return dict(zip(release.schema.uncounted, words, strict=True))
    return {}


def _missing_size(size: float, error: float, n_rows: float) -> str:
    """Return a number of missing values; nothing is known if it may be any."""
    nothing = size <= 2 * error and size + 2 * error >= n_rows
    return f"number {HIDDEN}" if nothing else describe_size(size, error)


def missing_words(name: str, fact: Fact, counted: Counted) -> str:
    """Return the rule for missing values of a column, and for about how many it stood."""
    rule = missing_rule(fact)
    if not rule or rule == CATEGORY_RULE:
        return rule
    return f"{rule} ({counted.get(name, 'number not asked')})"


def count_of(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as ``1 category``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def join_words(words: Iterable[str], joint: str = "and") -> str:
    """Return words as a list in a sentence: ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} {joint} {last}" if first else last


def format_error(error: float) -> str:
    """Return an error with two significant digits, never with an exponent."""
    rounded = float(f"{error:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def significant(value: float, digits: int) -> str:
    """Return a number with ``digits`` significant digits, never with an exponent."""
    return f"{float(f'{value:.{digits}g}'):,.12g}".replace("-", "−")


def format_number(value: float, digits: int) -> str:
    """Return a number with ``digits`` digits after the point, or rounded to tens if below 0."""
    if digits > 6 or abs(value) >= 1e12:
        return _scientific(value)
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    text = "0" if not float(text.replace(",", "")) else text
    return text.replace("-", "−")


def _scientific(value: float) -> str:
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    power = f" · 10{str(int(exponent)).translate(_SUPERSCRIPTS)}" if exponent else ""
    return f"{mantissa}{power}".replace("-", "−")


def _two(error: float) -> float:
    """Return two errors with two significant digits."""
    return float(f"{2 * error:.2g}")


def _digits_of(error: float) -> int:
    """Return the digits after the point that an error of this size leaves.

    Of an error below ten, one digit is told, and two if the first is 1; of larger ones two.
    """
    if error <= 0:
        return 0
    place = math.floor(math.log10(error))
    return 1 - place if place >= 1 or error < 2 * 10**place else -place


def _digits(fact: Box, error: float | None) -> int:
    """Return the digits after the point that matter in a column of this range."""
    place = math.floor(math.log10(fact.high - fact.low))
    digits = 3 - place if not error else min(5 - place, _digits_of(_two(error)))
    whole = fact.form == "integer" and fact.high - fact.low >= _WIDE
    return min(digits, 0) if whole else digits


def _as_declared(value: float, fact: Box | Bins) -> str:
    """Return a number of the schema as it was declared, without its unit."""
    if fact.form in ("date", "time"):
        return fact.shown(value)
    if value and not 1e-6 <= abs(value) < 1e12:
        return _scientific(value)
    text = f"{value:,.10g}".replace("-", "−")
    return text.replace(",", "") if fact.form == "integer" and abs(value) < _COMMA else text


def _unit(fact: Box | Bins) -> str:
    return fact.form if fact.form in DURATIONS else fact.unit


def _of_column(fact: Box, value: float, digits: int) -> str:
    """Return a number of a column; whole ones of four digits may be years, and have no comma."""
    text = format_number(value, digits)
    return text.replace(",", "") if fact.form == "integer" and abs(value) < _COMMA else text


def _with_space(unit: str) -> str:
    return f" {unit}" if unit else ""


def _moment(fact: Box, value: float, error: float | None) -> str:
    """Return a date or a time, with no more of it than its error leaves: a year, a month, a day."""
    width = (fact.high - fact.low) * _DAY
    exact = 2 * error * _DAY if error else width / 1000
    for least, length, unit, name in _COARSE:
        if error and exact >= least * _DAY:
            return f"{fact.shown(value)[:length]} ± {exact / (unit * _DAY):.0f} {name}"
    if fact.form == "date" or exact >= _DAY:
        text = fact.shown(math.floor(value + 0.5) if fact.form == "date" else value)[:10]
    else:
        text = fact.shown(round(value * 1440) / 1440)[:16].replace("T", " ")
    if not error:
        return text
    name, unit = next((it for it in _TIMES if exact >= 2 * it[1]), _TIMES[-1])
    if fact.form == "date":
        name, unit = _TIMES[0]
    spread = max(exact / unit, 1.0)
    return f"{text} ± {format_error(spread) if spread < 10 else f'{spread:,.0f}'} {name}"
