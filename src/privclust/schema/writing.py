"""How text stands for a number, a date or a yes: declared for a column, or for all of a file.

Nothing here sees a row. A writing is compiled to a pattern that the table applies to each text by
itself, so what a value is read as depends on its own text and on what is declared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from privclust.exceptions import SchemaError
from privclust.schema.forms import Form, items, valid_text

# What stands between thousands; a space stands for those that do not break lines, too.
_THOUSANDS = {"": "", ".": r"\.", ",": ",", "'": "['\u2019]", " ": "[ \u00a0\u202f]", "_": "_"}
# The letters of a format, as in Python's strptime, and what stands in their place.
LETTERS = {
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<short_year>[0-9]{2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "b": r"(?P<month_name>[A-Za-z]{3,9})",
    "B": r"(?P<month_name>[A-Za-z]{3,9})",
    "d": r"(?P<day>[0-9]{1,2})",
    "H": r"(?P<hour>[0-9]{1,2})",
    "I": r"(?P<hour>[0-9]{1,2})",
    "p": r"(?P<half>[AaPp][Mm])",
    "M": r"(?P<minute>[0-9]{1,2})",
    "S": r"(?P<second>[0-9]{1,2})",
    "f": r"(?P<fraction>[0-9]{1,9})",
    "z": r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})",
    "%": "%",
}
_NUMBERS = ("number", "integer", "text")
_MOMENTS = ("date", "time")


@dataclass(frozen=True)
class Writing:
    """How the texts of one column are written.

    Attributes
    ----------
    form : Form
        What the numbers are.
    format : str or None
        How dates and times are written; ISO 8601 if not given.
    decimal, thousands : str
        The marks within numbers.
    unit : str
        What may stand before or after a number, such as ``"%"``.
    true, false : tuple of str
        Words for yes and no, on top of ``true`` and ``false``.
    """

    form: Form = "number"
    format: str | None = None
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal == self.thousands:
            raise SchemaError(
                f"The decimal mark and the mark of thousands are both {self.decimal!r}; declare "
                'them apart, such as decimal = "," and thousands = ".".'
            )

    @cached_property
    def pattern(self) -> str | None:
        """The pattern of such texts, with named parts; None where the usual one applies."""
        if self.format is not None:
            return format_pattern(self.format)
        if self.form not in _NUMBERS or not (self.thousands or self.unit or self.decimal != "."):
            return None
        mark, point, unit = self.thousands_pattern, re.escape(self.decimal), re.escape(self.unit)
        whole = rf"(?:[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+|[0-9]+)" if mark else "[0-9]+"
        number = rf"-?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,4}})?"
        before, after = (rf"(?:{unit}\s*)?", rf"(?:\s*{unit})?") if unit else ("", "")
        return rf"^{before}\+?(?P<number>{number}){after}$"

    @property
    def thousands_pattern(self) -> str:
        """The pattern of the mark between thousands; empty if there is none."""
        return _THOUSANDS[self.thousands]


def format_pattern(format: str) -> str:
    """Return the pattern of dates and times that a format describes."""
    pieces = re.split("%(.)", format)
    return "^" + "".join(LETTERS[p] if i % 2 else re.escape(p) for i, p in enumerate(pieces)) + "$"


def check_format(format: object) -> str:
    """Return a format of dates or times; raise if it names no year, a letter twice or unknown."""
    wrong = f"The format {format!r} cannot be read; write it"
    example = 'such as "%d.%m.%Y" or "%m/%d/%Y %H:%M"'
    if not isinstance(format, str) or not format:
        raise SchemaError(f"{wrong} {example}.")
    valid_text(format, "a format")
    letters = re.split("%(.)", format)[1::2]
    unknown = [f"%{letter}" for letter in letters if letter not in LETTERS]
    if unknown or re.search("%$", "".join(re.split("%.", format))):
        known = ", ".join(f"%{letter}" for letter in LETTERS)
        raise SchemaError(f"{wrong} with the letters {known} alone, {example}.")
    names = [re.findall(r"\?P<(\w+)>", LETTERS[letter]) for letter in letters]
    parts = [name.removeprefix("short_").removesuffix("_name") for found in names for name in found]
    if "year" not in parts or len(set(parts)) < len(parts) or ("I" in letters) != ("p" in letters):
        raise SchemaError(
            f"{wrong} with a year, with no part twice, and with %I and %p together or not at all, "
            f"{example}."
        )
    return format


def parse_format(text: str, format: str) -> date | None:
    """Return the date, or the moment, that a text stands for in a format, if it does."""
    try:
        moment = datetime.strptime(text.strip(), format)
    except (ValueError, re.error):  # a format that names a part twice is refused later
        return None
    return moment if re.search("%[HI]", format) else moment.date()


def check_decimal(mark: object) -> str:
    """Return a decimal mark."""
    if mark not in (".", ","):
        raise SchemaError('The decimal mark must be "." or ","; write one of them.')
    return str(mark)


def check_thousands(mark: object) -> str:
    """Return a mark between thousands; empty for none."""
    if mark not in _THOUSANDS:
        raise SchemaError(
            "The mark of thousands must be one of . , ' _ or a space, or empty; write one of them."
        )
    return str(mark)


def check_words(words: object, name: str) -> tuple[str, ...]:
    """Return words for yes or for no."""
    given = [words] if isinstance(words, str) else items(words, name)
    if not all(isinstance(word, str) and word.strip() for word in given):
        raise SchemaError(f'A schema needs a list of words as {name}, such as ["ja"]; correct it.')
    return tuple(valid_text(str(word).strip(), name) for word in given)


def writes_numbers(form: Form) -> bool:
    """Return whether texts of a form have marks within numbers."""
    return form in _NUMBERS


def writes_moments(form: Form) -> bool:
    """Return whether texts of a form have a format."""
    return form in _MOMENTS
