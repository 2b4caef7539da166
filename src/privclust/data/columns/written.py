"""Grammars: text that represents a number, a date, a time or a duration.

Every text is read by itself, by integer arithmetic on its own digits; anything not written in its
form is NaN. Nothing is refused here.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from privclust._typing import Floats, Integers
from privclust.schema.forms import DURATIONS, Form
from privclust.schema.writing import Writing

MICROSECONDS_A_DAY = 86_400_000_000
_NO_NUMBER = "?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$"
_MOMENT = (
    r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
_CLOCK = (
    r"^(?P<sign>[+-]?)(?P<hour>[0-9]{1,6}):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,9}))?)?$"
)
_PERIOD = (
    r"^(?P<sign>[+-]?)P(?:(?P<day>[0-9]{1,6})D)?(?:T(?:(?P<hour>[0-9]{1,6})H)?"
    r"(?:(?P<minute>[0-9]{1,6})M)?(?:(?P<second>[0-9]{1,9})(?:[.,](?P<fraction>[0-9]{1,9}))?S)?)?$"
)


def written(text: pa.Array, writing: Writing) -> Floats:
    """Return the numbers that texts stand for as they are written; NaN where one is for none."""
    text = pc.utf8_trim_whitespace(text.cast(pa.large_string()))
    if writing.form == "text":
        return text_as_numbers(plain_digits(text, writing))
    return _durations(text, writing.form) if writing.form in DURATIONS else _moments(text, writing)


def plain_digits(text: pa.Array, writing: Writing) -> pa.Array:
    """Return numbers as plain digits with a point; what is not written as declared is none."""
    if writing.pattern is None:
        return text
    number = pc.struct_field(pc.extract_regex(text, writing.pattern), "number")
    if writing.thousands:
        number = pc.replace_substring_regex(number, writing.thousands_pattern, "")
    number = pc.replace_substring(number, writing.decimal, ".")
    none = pa.scalar(_NO_NUMBER, pa.large_string())
    return pc.if_else(pc.and_(text.is_valid(), number.is_null()), none, number)


def text_as_numbers(text: pa.Array) -> Floats:
    """Return finite numbers written as text; NaN for anything else."""
    # Arrow refuses a leading plus, which people do write.
    plain = pc.replace_substring_regex(text, r"^\+", "")
    is_number = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
    numbers = pc.if_else(is_number, plain, None).cast(pa.float64())
    floats = np.asarray(numbers.fill_null(np.nan).to_numpy(zero_copy_only=False), np.float64)
    return np.where(np.isfinite(floats), floats, np.nan)


def in_form(micros: Integers, form: Form) -> Floats:
    """Return microseconds since 1970, or of a duration, in the unit of a form."""
    if form == "date":
        return np.floor_divide(micros, MICROSECONDS_A_DAY).astype(np.float64)
    unit = MICROSECONDS_A_DAY if form == "time" else DURATIONS[form] * 1_000_000
    return micros / unit


def _moments(text: pa.Array, writing: Writing) -> Floats:
    parts = _Parts(text, writing.pattern or _MOMENT)
    year, month, hour = parts.year(), parts.month(), parts.hour()
    months = (year - 1970) * 12 + month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    day = first + parts.whole("day", 1) - 1
    valid = parts.matched & (year >= 1) & (month >= 1) & (month <= 12)
    valid &= (day >= first) & (day < after)
    valid &= (hour >= 0) & (hour <= 23) & (parts["minute"] <= 59) & (parts["second"] <= 59)
    sign, hours, minutes = parts.zone()
    valid &= (hours <= 23) & (minutes <= 59)
    shift = sign * (hours * 60 + minutes) * 60_000_000
    micros = day * MICROSECONDS_A_DAY + parts.within_day(hour) - shift
    return np.where(valid, in_form(micros, writing.form), np.nan)


def _durations(text: pa.Array, form: Form) -> Floats:
    clock, period = _Parts(text, _CLOCK), _Parts(text, _PERIOD)
    some = pc.fill_null(pc.match_substring_regex(text, r"[0-9]$|[0-9][DHMS]$"), False)
    found = np.full(len(text), np.nan)
    for parts, days in ((period, period["day"]), (clock, 0)):
        micros = parts.sign() * (days * MICROSECONDS_A_DAY + parts.within_day(parts["hour"]))
        valid = parts.matched & some.to_numpy(zero_copy_only=False)
        found = np.where(valid, in_form(micros, form), found)
    return found


class _Parts:
    """The named parts of texts that match a pattern, as whole numbers; 0 where there is none."""

    def __init__(self, text: pa.Array, pattern: str) -> None:
        found = pc.extract_regex(text, pattern)
        self.matched = found.is_valid().to_numpy(zero_copy_only=False)
        self._found = found

    def has(self, name: str) -> bool:
        return bool(self._found.type.get_field_index(name) >= 0)

    def text(self, name: str) -> pa.Array:
        if not self.has(name):
            return pa.array([""] * len(self._found), pa.large_string())
        return pc.fill_null(pc.struct_field(self._found, name), "")

    def whole(self, name: str, absent: int) -> Integers:
        """Return a part as whole numbers; what the pattern does not have is ``absent``."""
        return _whole(self.text(name)) if self.has(name) else np.full(len(self._found), absent)

    def __getitem__(self, name: str) -> Integers:
        return self.whole(name, 0)

    def year(self) -> Integers:
        """Return years; of two digits, those from 1969 to 2068."""
        if not self.has("short_year"):
            return self["year"]
        short = self["short_year"]
        return np.where(short < 69, short + 2000, short + 1900)

    def month(self) -> Integers:
        """Return months by number or English name; 0 for what is none."""
        if not self.has("month_name"):
            return self.whole("month", 1)
        short = pc.utf8_slice_codeunits(pc.utf8_lower(self.text("month_name")), 0, 3)
        names = pa.array(_MONTHS, pa.large_string())
        return np.asarray(pc.index_in(short, names).fill_null(-1)) + 1

    def hour(self) -> Integers:
        """Return hours of 24; -1 where one of twelve is none."""
        hour = self["hour"]
        if not self.has("half"):
            return hour
        late = _equal(pc.utf8_lower(self.text("half")), "pm")
        return np.where((hour >= 1) & (hour <= 12), hour % 12 + 12 * late, -1)

    def sign(self) -> Integers:
        return np.where(_equal(self.text("sign"), "-"), -1, 1)

    def within_day(self, hour: Integers) -> Integers:
        """Return hours, minutes, seconds and their fraction in microseconds."""
        digits = pc.utf8_slice_codeunits(self.text("fraction"), 0, 6)
        fraction = _whole(pc.utf8_rpad(digits, 6, "0"))
        seconds = (hour * 60 + self["minute"]) * 60 + self["second"]
        return np.asarray(seconds * 1_000_000 + fraction)

    def zone(self) -> tuple[Integers, Integers, Integers]:
        """Return sign, hours and minutes of the zone; all zero in UTC."""
        zone = pc.replace_substring(pc.replace_substring(self.text("zone"), "Z", ""), ":", "")
        sign = np.where(_equal(pc.utf8_slice_codeunits(zone, 0, 1), "-"), -1, 1)
        hours = _whole(pc.utf8_slice_codeunits(zone, 1, 3))
        return sign, hours, _whole(pc.utf8_slice_codeunits(zone, 3, 5))


def _whole(digits: pa.Array) -> Integers:
    filled = pc.if_else(pc.equal(digits, ""), "0", digits)
    return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _equal(text: pa.Array, word: str) -> NDArray[np.bool_]:
    return np.asarray(pc.equal(text, word).to_numpy(zero_copy_only=False), np.bool_)
