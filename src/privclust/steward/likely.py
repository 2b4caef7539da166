"""How the values of a column are probably written: for a public sample, or for a steward's eyes.

A guess looks at many values at once, so it never decides how a fit reads one. A draft proposes it
and a check names it; what counts is what the schema then declares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from privclust._typing import Floats, Mask
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.table import MISSING_WORDS, number_line
from privclust.schema.writing import Writing, writes_moments

# A writing is likely if it reads this share of the values.
MOST = 0.95
_DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%b %d, %Y",
    "%m/%Y", "%m.%Y", "%b %Y", "%Y-%m",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", ", %H:%M", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")
_MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"))
_YES = ("ja", "yes", "oui", "si", "sí", "sim", "wahr", "vrai", "j", "y", "t", "x")
_NO = ("nein", "no", "non", "não", "falsch", "faux", "n", "f")
_CURRENCIES = ("€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF")
_BESIDE = re.compile(r"^([^\d+.,-]*?)\s*[+-]?[\d.,' \u00a0\u202f\u2019]*\d%?\s*([^\d]*)$")


def likely_writings(texts: Iterable[str], usual: Writing) -> list[Writing]:
    """Return the writings by which most texts read, and nearly all; one of those that read alike.

    ``usual``: what the rest of the file is written like; it comes first among equals.
    """
    words = [text for text in texts if text.strip()]
    if not words:
        return []
    column = TypedColumn("field", pa.array(words, pa.large_string()))
    tried = {writing: _read(column, writing) for writing in _candidates(words, usual)}
    counts = {writing: np.isfinite(numbers).sum() for writing, numbers in tried.items()}
    best = max(counts.values())
    if best < MOST * len(words):
        return []
    alike = {tried[w].tobytes(): w for w in reversed(counts) if counts[w] == best}
    return [writing for writing in counts if writing in alike.values()]


def reads_most(texts: Iterable[str], writing: Writing) -> bool:
    """Return whether nearly all texts read so."""
    column = TypedColumn("field", pa.array(list(texts), pa.large_string()))
    return bool(np.isfinite(_read(column, writing)).mean() >= MOST)


def likely_words(texts: Iterable[str]) -> tuple[list[str], list[str]] | None:
    """Return the words for yes and for no, if nearly all texts are such words."""
    counts = Counter(text.strip() for text in texts if text.strip())
    yes = sorted(word for word in counts if word.casefold() in _YES)
    no = sorted(word for word in counts if word.casefold() in _NO)
    return (yes, no) if nearly_all(counts, lambda word: word in (*yes, *no)) else None


def nearly_all(texts: Counter[str], holds: Callable[[str], bool]) -> bool:
    """Return whether something holds of nearly all texts."""
    told = sum(count for text, count in texts.items() if holds(text))
    return bool(texts) and told >= MOST * texts.total()


def is_missing(column: TypedColumn) -> Mask:
    """Return which values are absent, not merely unreadable."""
    array = column.decode()
    if column.kind == "float":
        return np.asarray(pc.is_null(array, nan_is_null=True))
    if column.kind in ("text", "field"):
        text = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
        words = pa.array([*MISSING_WORDS, None], pa.large_string())
        return np.asarray(pc.is_in(text, value_set=words))
    if column.kind == "cell":
        return np.asarray(pc.equal(pc.struct_field(array, "tag").fill_null(0), 0))
    return np.asarray(array.is_null())


def declaration_of(writing: Writing) -> str:
    """Return what a column of a schema file declares to be read so."""
    usual = Writing(writing.form)
    names = ("format", "decimal", "thousands", "unit")
    given = [(name, getattr(writing, name)) for name in names]
    return " and ".join(f'{n} = "{value}"' for n, value in given if value != getattr(usual, n))


def _candidates(words: list[str], usual: Writing) -> Iterator[Writing]:
    if writes_moments(usual.form):
        yield usual
        for day, clock in product(_DAYS, _CLOCKS):
            yield replace(usual, format=day + clock)
        return
    marks = dict.fromkeys([(usual.decimal, usual.thousands), *_MARKS])
    for (decimal, thousands), unit in product(marks, ("", *_units(words))):
        yield replace(usual, decimal=decimal, thousands=thousands, unit=unit)


def _units(words: list[str]) -> list[str]:
    """Return what stands next to the numbers most often, if anything does."""
    beside: Counter[str] = Counter()
    for word in words:
        if found := _BESIDE.match(word.strip()):
            sign = "%" if word.strip().endswith("%") else ""
            before, after = (part.strip() for part in found.groups())
            before = before if before in _CURRENCIES else ""
            beside.update({part for part in (before, after, sign) if 0 < len(part) <= 5})
    return [unit for unit, _ in beside.most_common(2)]


def _read(column: TypedColumn, writing: Writing) -> Floats:
    return np.asarray(number_line(writing).read(column).values.to_numpy(zero_copy_only=False))
