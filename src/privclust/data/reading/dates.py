"""Columns of dates, times, durations and numbers as text, as the numbers they stand for.

Every value is converted by itself, by integer arithmetic on its own digits, and everything that is
not of the declared form becomes NaN: the conversion is total, and no row affects another.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from privclust._typing import Floats, Integers
from privclust.data.reading.convert import decoded
from privclust.schema.forms import DURATIONS, Form

__all__ = ["FORM_IN_WORDS", "formed", "takes", "text_as_numbers"]


# What a column of a form is called, and how it is to be written.
FORM_IN_WORDS: dict[str, tuple[str, str]] = {
    "text": ("numbers", "digits such as 12.5"),
    "date": ("dates", "2024-12-31"),
    "time": ("dates and times", "2024-12-31T18:30:00"),
    **dict.fromkeys(DURATIONS, ("durations", "1:30:00 or PT1H30M")),
}

_MICROSECONDS_A_DAY = 86_400_000_000
_TICKS = {"s": 1_000_000, "ms": 1000, "us": 1}
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


def formed(column: pa.Array, form: Form) -> Floats:
    """Return a column as the numbers its form stands for; NaN where it has none."""
    column = decoded(column)
    if pt.is_string(column.type) or pt.is_large_string(column.type):
        text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
        if form == "text":
            return text_as_numbers(text)
        return _durations(text, form) if form in DURATIONS else _moments(text, form)
    if not takes(column.type, form) or pt.is_null(column.type):
        return np.full(len(column), np.nan)
    if form == "text":
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    micros, known = _microseconds(column)
    return np.where(known, _in_form(micros, form), np.nan)


def text_as_numbers(text: pa.Array) -> Floats:
    """Return finite numbers written as text; NaN where it is none."""
    # Arrow refuses a leading plus that people write.
    plain = pc.replace_substring_regex(text, r"^\+", "")
    is_number = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
    numbers = pc.if_else(is_number, plain, None).cast(pa.float64())
    floats = np.asarray(numbers.fill_null(np.nan).to_numpy(zero_copy_only=False), np.float64)
    return np.where(np.isfinite(floats), floats, np.nan)


def takes(kind: pa.DataType, form: Form) -> bool:
    """Tell whether columns of an Arrow type can be of a form at all."""
    if pt.is_dictionary(kind) or pt.is_run_end_encoded(kind):
        kind = kind.value_type
    if (
        pt.is_null(kind)
        or pt.is_string(kind)
        or pt.is_large_string(kind)
        or pt.is_string_view(kind)
    ):
        return True
    if form in ("date", "time"):
        return bool(pt.is_date(kind) or pt.is_timestamp(kind))
    if form in DURATIONS:
        return bool(pt.is_duration(kind) or pt.is_time(kind))
    return bool(pt.is_integer(kind) or pt.is_floating(kind))


def _in_form(micros: Integers, form: Form) -> Floats:
    if form == "date":
        return np.floor_divide(micros, _MICROSECONDS_A_DAY).astype(np.float64)
    unit = _MICROSECONDS_A_DAY if form == "time" else DURATIONS[form] * 1_000_000
    return micros / unit


def _microseconds(column: pa.Array) -> tuple[Integers, NDArray[np.bool_]]:
    """Return a column of Arrow's own dates, times or durations in whole microseconds."""
    kind = column.type
    known = column.is_valid().to_numpy(zero_copy_only=False)
    if pt.is_date(kind):
        days = column.cast(pa.date32()).view(pa.int32()).fill_null(0)
        # A date beyond Python's years would wrap when it is counted in microseconds.
        days = np.clip(days.to_numpy(zero_copy_only=False).astype(np.int64), -(10**8), 10**8)
        return days * _MICROSECONDS_A_DAY, known
    bits = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = column.view(bits).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if kind.unit == "ns":
        return ticks // 1000, known
    most = 2**62 // _TICKS[kind.unit]
    return np.clip(ticks, -most, most) * _TICKS[kind.unit], known


def _moments(text: pa.Array, form: Form) -> Floats:
    parts = _Parts(text, _MOMENT)
    months = (parts["year"] - 1970) * 12 + parts["month"] - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    day = first + parts["day"] - 1
    valid = parts.matched & (parts["year"] >= 1) & (parts["month"] >= 1) & (parts["month"] <= 12)
    valid &= (parts["day"] >= 1) & (day < after)
    valid &= (parts["hour"] <= 23) & (parts["minute"] <= 59) & (parts["second"] <= 59)
    sign, hours, minutes = parts.zone()
    valid &= (hours <= 23) & (minutes <= 59)
    shift = sign * (hours * 60 + minutes) * 60_000_000
    micros = day * _MICROSECONDS_A_DAY + parts.within_day() - shift
    return np.where(valid, _in_form(micros, form), np.nan)


def _durations(text: pa.Array, form: Form) -> Floats:
    clock, period = _Parts(text, _CLOCK), _Parts(text, _PERIOD)
    some = pc.fill_null(pc.match_substring_regex(text, r"[0-9]$|[0-9][DHMS]$"), False)
    found = np.full(len(text), np.nan)
    for parts, days in ((period, period["day"]), (clock, 0)):
        micros = parts.sign() * (days * _MICROSECONDS_A_DAY + parts.within_day())
        valid = parts.matched & some.to_numpy(zero_copy_only=False)
        found = np.where(valid, _in_form(micros, form), found)
    return found


class _Parts:
    """The named parts of texts that match a pattern, as whole numbers; 0 where there is none."""

    def __init__(self, text: pa.Array, pattern: str) -> None:
        found = pc.extract_regex(text, pattern)
        self.matched = found.is_valid().to_numpy(zero_copy_only=False)
        self._found = found

    def text(self, name: str) -> pa.Array:
        return pc.fill_null(pc.struct_field(self._found, name), "")

    def __getitem__(self, name: str) -> Integers:
        return _whole(self.text(name))

    def sign(self) -> Integers:
        return np.where(_equal(self.text("sign"), "-"), -1, 1)

    def within_day(self) -> Integers:
        """Return hours, minutes, seconds and their fraction in microseconds."""
        digits = pc.utf8_slice_codeunits(self.text("fraction"), 0, 6)
        fraction = _whole(pc.utf8_rpad(digits, 6, "0"))
        seconds = (self["hour"] * 60 + self["minute"]) * 60 + self["second"]
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
