"""Numbers and sentences for readers of a report; never rounded in favour of the release.

A difference is put into words only if noise is unlikely to cause any such difference among all
columns of all clusters. Words come from the names and forms of columns, which are public.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from privclust._typing import Floats
from privclust.budget import round_up
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.forms import DURATIONS
from privclust.schema.schema import Schema

# The factor of what follows a ±: the truth is within it in about 19 of 20 cases.
TWO_ERRORS = "± 2 errors"

# Elementary functions are computed with this many digits, of which few are shown.
_DIGITS = Context(prec=40, traps=[])
_MANY = 14  # the exponent of e above which only the order of magnitude is shown: a million


def exact_decimal(value: Fraction | float) -> Decimal:
    """Return a number to forty digits."""
    exact = Fraction(value)
    return _DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def power(exponent: Fraction | float) -> Decimal:
    """Return e^exponent to forty digits."""
    return _DIGITS.exp(exact_decimal(exponent))


def factor(exponent: Fraction | float) -> str:
    """Return e^exponent, rounded up; large ones in round numbers."""
    if exponent > _MANY:
        return f"10^{math.ceil(_DIGITS.divide(exact_decimal(exponent), _DIGITS.ln(Decimal(10))))}"
    value = power(exponent)
    if value >= 100:
        return f"{math.ceil(value):,}"
    return format(_digits(value, 4 if value < Decimal("1.2") else 3, ROUND_CEILING), "f")


def chance(bound: Decimal) -> str:
    """Return a bound on a small chance with three digits, rounded up."""
    kept = _digits(bound, 3, ROUND_CEILING)
    return format(kept, "f") if kept > Decimal("1e-7") else f"{float(kept):g}"


def one_in(bound: Decimal) -> str:
    """Return a bound on a small chance as one in how many, rounded down to three digits."""
    return f"{int(_digits(_DIGITS.divide(Decimal(1), bound), 3, ROUND_FLOOR)):,}"


def least(share: Decimal) -> str:
    """Return a probability that is the least possible, rounded down."""
    return percent(share, ROUND_FLOOR)


def most(share: Decimal) -> str:
    """Return a probability that is the most possible, rounded up."""
    return percent(share, ROUND_CEILING)


def percent(share: Decimal | float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a probability for a reader, never rounded to certainty."""
    value = 100 * Decimal(share)
    if 0 < value < Decimal("0.001"):
        return "less than 0.001 %"
    if value > Decimal("99.999"):
        return "more than 99.999 %"
    digits = 2
    if value > 99:  # enough digits to distinguish it from 100
        digits = 2 - (100 - value).adjusted()
    return f"{_digits(value, digits, rounding):f} %"


def decimal(amount: Fraction) -> str:
    """Return an exact amount as a short decimal, rounded up."""
    return f"{float(round_up(amount, 4)):.4g}"


def _digits(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return a number with ``digits`` digits, without trailing zeros."""
    kept = Context(prec=digits, rounding=rounding).plus(value)
    return kept.normalize(Context(prec=digits))


def give_or_take(value: str, error: float) -> str:
    """Return a value for people with two of its standard errors to each side."""
    return f"{value} ± {format_error(2 * error)}"


def format_error(error: float) -> str:
    """Return an error with two significant digits, never with an exponent."""
    rounded = float(f"{error:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


# A sentence for each cluster: what sets it apart from all rows, in plain words, beyond the noise.

# The chance that noise alone puts any word into any sentence of a release, if errors are right;
# they cover only the noise and are a little too small, as measured.
_MISTAKEN, _UNDERRATED = 0.05, 1.25
_LARGE_GAP = 0.05  # of the declared width; smaller differences are not worth a word
_LARGE_SHARE = 0.10  # of a category, more or less than among all rows
_MOST_WORDS = 3

# Words for more and less of a column, by a word of its name.
_WORDS = {
    ("age",): ("older", "younger"),
    ("stay", "duration", "length", "time"): ("long {name}", "short {name}"),
    ("year", "date", "day", "birth", "born"): ("late {name}", "early {name}"),
}
_COUNTED = re.compile(r"(visits|days|hours|children|items|counts?|number)$")
_USUAL = ("high {name}", "low {name}")
# Categories that mean nothing without the name of their column.
_BARE = re.compile(r"^(\(.*\)|yes|no|true|false|other|none|unknown|[^A-Za-z]*|.)$", re.IGNORECASE)


@dataclass(frozen=True)
class Trait:
    """One thing that sets a cluster apart."""

    column: str
    words: str
    # Its difference from the average of all rows: in declared widths, or in shares.
    strength: float


def traits_of(
    schema: Schema, centers: Floats, errors: Floats, sizes: Floats, sizes_error: Floats
) -> list[list[Trait]]:
    """Return what sets each cluster apart beyond the noise, the strongest first.

    ``schema``: the columns; a Box has one coordinate, another fact one for each of its categories.
    ``centers``, ``errors``: (n_clusters, n_coordinates), numbers and shares of categories, with the
    standard errors of their noise. ``sizes``, ``sizes_error``: (n_clusters,), noisy numbers of
    rows; a cluster hidden by noise has no traits.
    """
    weights = np.maximum(sizes, 0)
    weights = weights / weights.sum() if weights.any() else np.full(len(sizes), 1 / len(sizes))
    gaps = centers - weights @ centers
    # A centre is part of the average itself.
    own = (1 - 2 * weights[:, None]) * errors**2
    noise = np.sqrt(np.maximum(own + weights**2 @ errors**2, 0))
    likely = _UNDERRATED * NormalDist().inv_cdf(1 - _MISTAKEN / (2 * max(gaps.size, 1)))
    sure = (np.abs(gaps) > likely * noise) & (sizes > 2 * sizes_error)[:, None]
    found = []
    for center, gap, clear in zip(centers, gaps, sure, strict=True):
        traits = [*_traits(schema, center, np.where(clear, gap, 0))]
        found.append(sorted(traits, key=lambda trait: -trait.strength))
    return found


def sentence_of(traits: Sequence[Trait], size: float, size_error: float) -> str:
    """Return a line such as "older, long stay, mostly widowed; 2,584 ± 47 rows"."""
    words = ", ".join(trait.words for trait in traits[:_MOST_WORDS])
    rows = give_or_take(f"{size:,.0f}", size_error).replace("-", "−")
    return f"{words or 'nothing stands out from the noise'}; {rows} rows"


def _traits(schema: Schema, center: Floats, gaps: Floats) -> Iterator[Trait]:
    """Yield at most one trait of each column; gaps explained by noise are zero."""
    for column in Coordinates(schema).columns:
        name, fact = column.name, column.fact
        if not isinstance(fact, Box):
            yield from _of_categories(name, fact, center[column.places], gaps[column.places])
            continue
        strength = float(gaps[column.start]) / (fact.high - fact.low)
        if abs(strength) >= _LARGE_GAP:
            yield Trait(name, _of_number(name, fact, strength > 0), abs(strength))


def _of_number(name: str, fact: Box, more: bool) -> str:
    shown = name.replace("_", " ").strip()
    words = re.findall(r"[a-z]+", shown.lower())
    pair = next((pair for keys, pair in _WORDS.items() if {*keys} & {*words}), _USUAL)
    if fact.form in DURATIONS:
        pair = ("long {name}", "short {name}")
    elif fact.form in ("date", "time"):
        pair = ("late {name}", "early {name}")
    elif pair is _USUAL and words and _COUNTED.search(words[-1]) and words[-1].endswith("s"):
        pair = ("many {name}", "few {name}")
    return pair[0 if more else 1].format(name=shown)


def _of_categories(
    name: str, fact: Bins | Categories, shares: Floats, gaps: Floats
) -> Iterator[Trait]:
    at = int(np.abs(gaps).argmax())
    gap, share = float(gaps[at]), float(shares[at])
    if abs(gap) < _LARGE_SHARE:
        return
    label, bare = fact.labels[at], not isinstance(fact, Categories)
    shown = f"{name.replace('_', ' ')} {label}" if bare or _BARE.match(label) else label
    if gap > 0:
        yield Trait(name, f"{'mostly' if share >= 0.5 else 'often'} {shown}", gap)
    elif share < (share - gap) / 2:
        yield Trait(name, f"seldom {shown}", -gap)
