"""What groups there are, how large, and what sets them apart: the findings of a report.

A difference is put into words only if noise is unlikely to cause any such difference among all
columns of all groups. Words follow the declared form of a column, never its name: a column called
``time`` may be a clock, a duration or a year.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.reports.values import (
    CATEGORY_RULE,
    Counted,
    category_labels,
    column_label,
    coordinate_facts,
    coordinate_labels,
    count_of,
    describe_about,
    describe_count,
    describe_size,
    is_share,
    join_words,
    missing_rule,
    missing_words,
    percent_of,
)
from privclust.schema.coordinates import Column, Coordinates
from privclust.schema.facts import Box, Categories
from privclust.schema.forms import DURATIONS
from privclust.schema.schema import Schema

# The chance that noise alone puts any word into any sentence of a release, if errors are right;
# they cover only the noise and are a little too small, as measured.
_MISTAKEN, _UNDERRATED = 0.05, 1.25
_LARGE_GAP = 0.05  # of the declared width; smaller differences are not worth a word
_LARGE_SHARE = 0.10  # of a category, more or less than among all rows
_SEEN_GAP = 0.02  # of the declared width, in a picture
_MOST_WORDS, _MOST_NAMED = 3, 6
_MOST_DRAWN = 8  # groups, as many colours as a reader can tell apart
_MOST_STRIPS = 6


_NOT_COUNTED = (
    "How many values that was has not been asked, so that it is not known here; a fit with "
    "missing_share=0.02 asks."
)


@dataclass(frozen=True)
class Trait:
    """One thing that sets a cluster apart: in words, and with its value and that of all rows."""

    column: str
    words: str
    # Its difference from the average of all rows: in declared widths, or in shares.
    strength: float
    values: str = ""


@dataclass(frozen=True)
class RowGroups:
    """Released groups of rows, in the order of their labels.

    ``centers``: (n_groups, n_coordinates), as the coordinates of the schema. ``errors``: standard
    errors of the centres; None if the release has none. ``sizes``, ``sizes_error``: (n_groups,),
    noisy numbers of rows. ``names``: what the publisher calls them, or nothing.
    """

    schema: Schema
    centers: Floats
    errors: Floats | None
    sizes: Floats
    sizes_error: Floats
    names: Sequence[str] = ()
    noun: str = "cluster"
    missing: Counted = field(default_factory=dict)  # how many values rules stood for

    @cached_property
    def weights(self) -> Floats:
        """Shares of the rows; noise can make a size negative, a share cannot be."""
        weights = np.maximum(self.sizes, 0) if (self.sizes > 0).any() else np.ones(len(self.sizes))
        return np.asarray(weights / max(weights.sum(), 1e-300))

    @cached_property
    def clear(self) -> Any:
        """Whether the size of each group stands out from the noise."""
        return self.sizes > 2 * self.sizes_error

    @cached_property
    def order(self) -> list[int]:
        """The groups whose size stands out, the largest first."""
        largest = np.argsort(-self.sizes, kind="stable")
        return [int(i) for i in largest if self.clear[i]]

    @cached_property
    def average(self) -> Floats:
        """The centre of all rows, by the noisy sizes."""
        return np.asarray(self.weights @ self.centers)

    def average_error(self, j: int) -> float | None:
        """Return the standard error of a coordinate of the average, if it is known."""
        if self.errors is None:
            return None
        return float(np.sqrt((self.weights**2 * self.errors[:, j] ** 2).sum()))

    @cached_property
    def gaps(self) -> Floats:
        """How far each centre lies from the average; zero where noise may be the reason."""
        gaps = self.centers - self.average
        sure = np.broadcast_to(self.clear[:, None], gaps.shape)
        if self.errors is not None:
            # A centre is part of the average itself.
            own = (1 - 2 * self.weights[:, None]) * self.errors**2
            noise = np.sqrt(np.maximum(own + self.weights**2 @ self.errors**2, 0))
            likely = NormalDist().inv_cdf(1 - _MISTAKEN / (2 * max(gaps.size, 1)))
            sure = sure & (np.abs(gaps) > _UNDERRATED * likely * noise)
        return np.where(sure, gaps, 0)

    @cached_property
    def traits(self) -> list[list[Trait]]:
        """What sets each group apart beyond the noise, the strongest first."""
        found = []
        noise = [None] * len(self.sizes) if self.errors is None else self.errors
        for center, gaps, errors in zip(self.centers, self.gaps, noise, strict=True):
            traits = [
                trait
                for column in Coordinates(self.schema).columns
                for trait in _traits(column, center, gaps, self.average, errors)
            ]
            found.append(sorted(traits, key=lambda trait: -trait.strength))
        return found

    @property
    def sentences(self) -> list[str]:
        """A line for each group, such as "age higher, status mostly widowed; 2,584 ± 47 rows"."""
        told = zip(self.traits, self.sizes, self.sizes_error, strict=True)
        return [sentence_of(traits, float(size), float(error)) for traits, size, error in told]

    def name(self, label: int) -> str:
        """Return what a group is called: by its publisher, or by its number."""
        return self.names[label] if self.names else f"{self.noun} {label}"

    @property
    def tags(self) -> list[str]:
        """The names of all groups, or their numbers alone."""
        return list(self.names) or [str(label) for label in range(len(self.sizes))]

    @cached_property
    def columns_apart(self) -> list[str]:
        """What readers call the columns in which groups surely differ, the clearest first."""
        strongest: dict[str, float] = {}
        for traits, weight in zip(self.traits, self.weights, strict=True):
            for trait in traits:
                told = strongest.get(trait.column, 0.0)
                strongest[trait.column] = told + float(weight) * trait.strength**2
        return sorted(strongest, key=lambda name: -strongest[name])

    @cached_property
    def columns_alike(self) -> list[str]:
        """The columns in which noise may be the reason of all differences."""
        columns = Coordinates(self.schema).columns
        return [c.name for c in columns if not self.gaps[:, c.places].any()]

    def size_context(self) -> dict[str, Any]:
        """Return what templates show of groups of which only the sizes are known."""
        cards = [self._card(place, label, ()) for place, label in enumerate(self.order)]
        return self._count_groups(cards) | {"n_columns": 0}

    def _count_groups(self, cards: list[dict[str, Any]]) -> dict[str, Any]:
        error = float(np.sqrt((self.sizes_error**2).sum()))
        return {
            "noun": self.noun,
            "named": bool(self.names),
            "total": describe_count(float(self.sizes.sum()), error) if len(self.sizes) else "",
            "cards": cards,
            "hidden": int((~self.clear).sum()),
        }

    def context(self) -> dict[str, Any]:
        """Return what templates show of groups, and of the columns that set them apart."""
        cards = [
            self._card(place, label, self.traits[label]) for place, label in enumerate(self.order)
        ]
        return self._count_groups(cards) | {
            "known": self.errors is not None,
            "apart": join_words([self._label(name) for name in self.columns_apart[:_MOST_WORDS]])
            if self.columns_apart
            else "",
            "alike": self._alike(),
            "n_columns": len(self.schema),
        }

    def _alike(self) -> str:
        names = [self._label(name) for name in self.columns_alike]
        more = len(names) - _MOST_NAMED
        rest = [count_of(more, "other column")] if more > 0 else []
        return join_words([*names[:_MOST_NAMED], *rest]) if names else ""

    def _label(self, name: str) -> str:
        return column_label(name, self.schema[name])

    def _card(self, place: int, label: int, traits: Sequence[Trait]) -> dict[str, Any]:
        size, error = float(self.sizes[label]), float(self.sizes_error[label])
        return {
            "name": self.name(label),
            "number": label,
            "colour": place + 1 if place < _MOST_DRAWN else 0,
            "size": describe_count(size, error),
            "exact": describe_size(size, error),
            "share": percent_of(float(self.weights[label])),
            "part": float(self.weights[label]),
            "traits": [{"words": t.words, "values": t.values} for t in traits[:_MOST_WORDS]],
        }

    def strips(self) -> list[Strip]:
        """Return the coordinates that set groups apart most, with the place of each group."""
        widths = Coordinates(self.schema).high - Coordinates(self.schema).low
        spread = self.weights @ (self.gaps / widths) ** 2
        reach = np.abs(self.gaps / widths).max(axis=0)
        facts, names = coordinate_facts(self.schema), coordinate_labels(self.schema)
        columns = [c.name for c in Coordinates(self.schema).columns for _ in range(c.size)]
        chosen: list[int] = []
        for j in np.argsort(-spread, kind="stable").tolist():
            own = [i for i in chosen if columns[i] == columns[j]]
            most = 1 if facts[j] is not None or self._n_values(columns[j]) == 2 else 2
            if reach[j] >= _SEEN_GAP and len(own) < most and len(chosen) < _MOST_STRIPS:
                chosen.append(j)
        return [
            Strip(
                names[j],
                facts[j],
                self.centers[self.order[:_MOST_DRAWN], j],
                None if self.errors is None else self.errors[self.order[:_MOST_DRAWN], j],
                float(self.average[j]),
            )
            for j in chosen
        ]

    def _n_values(self, name: str) -> int:
        """Return how many values a column has, those for missing and other values aside."""
        fact = self.schema[name]
        return len(fact.values) if isinstance(fact, Categories) else 0


@dataclass(frozen=True)
class Strip:
    """One line of the picture: a column, and where each group lies in it."""

    name: str
    fact: Box | None  # None for a share of a category
    values: Floats
    errors: Floats | None
    average: float

    @property
    def ends(self) -> tuple[float, float]:
        """The part of the declared range that is drawn: all of it if it is a share."""
        if self.fact is None or is_share(self.fact):
            return 0.0, 1.0
        low, high = self.fact.low, self.fact.high
        reach = np.zeros_like(self.values) if self.errors is None else 2 * self.errors
        least, most = float((self.values - reach).min()), float((self.values + reach).max())
        room = max(0.1 * (most - least), 0.125 * (high - low) - (most - least) / 2)
        return max(low, least - room), min(high, most + room)


def sentence_of(traits: Sequence[Trait], size: float, size_error: float) -> str:
    """Return a line such as "age higher, status mostly widowed; 2,584 ± 47 rows"."""
    words = ", ".join(trait.words for trait in traits[:_MOST_WORDS])
    size_words = describe_size(size, size_error)
    return f"{words or 'nothing stands out from the noise'}; {size_words} rows"


def missing_rules(schema: Schema, counted: Counted) -> list[dict[str, str]]:
    """Return what was done with missing values of each column that has a rule for them."""
    rules = {name: missing_words(name, fact, counted) for name, fact in schema.columns.items()}
    return [
        {"name": column_label(name, schema[name]), "rule": rule}
        for name, rule in rules.items()
        if rule
    ]


def missing_sentences(schema: Schema, counted: Counted) -> list[str]:
    """Say what was done with missing values, and what is known of how many they are."""
    told: dict[str, list[str]] = {}
    for name, fact in schema.columns.items():
        if rule := missing_rule(fact):
            number = f" ({counted[name]})" if name in counted else ""
            told.setdefault(rule, []).append(f"{column_label(name, fact)}{number}")
    sentences, others = [], max(0, len(told) - _MOST_NAMED)
    for rule, names in [*told.items()][:_MOST_NAMED]:
        share = ", and their share is in the table" if rule == CATEGORY_RULE else ""
        sentences.append(f"Missing values of {join_words(names)} were {rule}{share}.")
    if others:
        sentences.append(f"{count_of(others, 'more rule')} can be found with the declared columns.")
    unknown = set(schema.uncounted) - set(counted)
    return [*sentences, _NOT_COUNTED] if unknown else sentences


def _traits(
    column: Column, center: Floats, gaps: Floats, average: Floats, errors: Floats | None
) -> Iterator[Trait]:
    """Yield at most one trait of a column; gaps explained by noise are zero."""
    fact, label = column.fact, column_label(column.name, column.fact)
    if not isinstance(fact, Box):
        yield from _of_categories(column, center, gaps)
        return
    strength = float(gaps[column.start]) / (fact.high - fact.low)
    if abs(strength) >= _LARGE_GAP:
        words = f"{label} {_comparative(fact, strength > 0)}"
        noise = None if errors is None else float(errors[column.start])
        both = (describe_about(fact, float(x[column.start]), noise) for x in (center, average))
        yield Trait(column.name, words, abs(strength), ", on average ".join(both))


def _comparative(fact: Box, more: bool) -> str:
    if is_share(fact):
        return "more often" if more else "less often"
    if fact.form in DURATIONS:
        return "longer" if more else "shorter"
    if fact.form in ("date", "time"):
        return "later" if more else "earlier"
    return "higher" if more else "lower"


def _of_categories(column: Column, center: Floats, gaps: Floats) -> Iterator[Trait]:
    fact, own = column.fact, gaps[column.places]
    if isinstance(fact, Box) or not own.size:
        return
    # What there is more of is told first, since some category has less wherever one has more.
    at = int(own.argmax() if own.max() >= _LARGE_SHARE else own.argmin())
    gap, share = float(own[at]), float(center[column.places][at])
    if abs(gap) < _LARGE_SHARE or (gap < 0 and share > (share - gap) / 2):
        return
    often = "less often" if gap < 0 else "mostly" if share >= 0.5 else "more often"
    words = f"{column_label(column.name, fact)} {often} {category_labels(fact)[at]}"
    both = f"{percent_of(share)}, on average {percent_of(min(max(share - gap, 0), 1))}"
    yield Trait(column.name, words, abs(gap), both)
