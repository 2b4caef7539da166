"""What an analyst may ask: the estimators on offer, and a question as plain data.

A question names an offer, a budget, columns and clusters, and nothing else. There is no seed in
it, no path and no code; bounds and unit come from the registered data set.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from privclust.budget import Budget
from privclust.schema import Schema
from privclust.service.errors import ServiceError
from privclust.unit import RowUnit

__all__ = ["OFFERS", "Offer", "Question", "budget_of", "offers_for"]

MOST_CLUSTERS = 200
LARGEST_EPSILON = 100
_NUMBER = re.compile(r"\d{1,20}/\d{1,40}|(\d{1,20}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?")


@dataclass(frozen=True)
class Offer:
    """One estimator that can be asked for.

    Attributes
    ----------
    name, estimator : str
        What a request calls it, and the class, as ``module:name``.
    title, sentence : str
        What a reader calls it, and what it is good for.
    columns : callable
        Takes a schema and returns the columns that can be asked about.
    fewest : int
        How many columns it needs at least.
    clusters : int or None
        The usual number of clusters; None if it takes none.
    rows : callable
        ``rows(schema, clusters, n_rows, unit)`` makes up rows for a dry run.
    """

    name: str
    estimator: str
    title: str
    sentence: str
    columns: Callable[[Schema], tuple[str, ...]]
    fewest: int
    clusters: int | None
    rows: Callable[[Schema, int, int, RowUnit], Any]

    @property
    def kind(self) -> type:
        """The class of the estimator."""
        module, _, name = self.estimator.partition(":")
        found: type = getattr(import_module(module), name)
        return found


def _clumps(schema: Schema, clusters: int, n_rows: int, unit: RowUnit) -> Any:
    from privclust.kmeans.plan import Clumps

    return Clumps.made(schema, clusters, n_rows, 0).table(unit)


def _even(schema: Schema, clusters: int, n_rows: int, unit: RowUnit) -> Any:
    from privclust.categorical.plan import synthetic_rows

    return synthetic_rows(schema, n_rows, unit)


def _all(schema: Schema) -> tuple[str, ...]:
    return schema.names if schema.numeric else ()


def _listed(schema: Schema) -> tuple[str, ...]:
    return schema.categorical


OFFERS = {
    offer.name: offer
    for offer in (
        Offer(
            "kmeans",
            "privclust.kmeans:PrivateKMeans",
            "Clusters (k-means)",
            "Groups of similar rows: their centres and about how many rows each has.",
            _all,
            1,
            8,
            _clumps,
        ),
        Offer(
            "summarise",
            "privclust.summary:PrivateSummary",
            "Summary for many questions",
            "Spends the budget once; clusters for every number are then free.",
            _all,
            1,
            None,
            _clumps,
        ),
        Offer(
            "categorical",
            "privclust.categorical:PrivateCategoricalKMeans",
            "Clusters of categories",
            "Groups of rows that hold categories, by distances learned from the data.",
            _listed,
            2,
            4,
            _even,
        ),
        Offer(
            "distances",
            "privclust.categorical:PrivateDilca",
            "Distances between categories",
            "How alike the values of each column are, by what they occur with.",
            _listed,
            2,
            None,
            _even,
        ),
    )
}


def offers_for(schema: Schema) -> list[Offer]:
    """Return what can be asked of data with this schema."""
    return [offer for offer in OFFERS.values() if len(offer.columns(schema)) >= offer.fewest]


@dataclass(frozen=True)
class Question:
    """One question about one data set, checked against what is public about it.

    Attributes
    ----------
    offer : Offer
    columns : tuple of str
        In the order of the schema.
    clusters : int or None
    budget : Budget
    """

    offer: Offer
    columns: tuple[str, ...]
    clusters: int | None
    budget: Budget

    @classmethod
    def parsed(cls, given: Mapping[str, Any], schema: Schema) -> Question:
        """Return the question that a request holds, or refuse it in one sentence."""
        unknown = set(given) - {"family", "epsilon", "delta", "clusters", "columns"}
        if unknown:
            raise ServiceError(
                f"{min(unknown)[:40]!r} cannot be asked for; a question has family, epsilon, "
                "delta, clusters and columns."
            )
        offer = OFFERS.get(str(given.get("family", "kmeans")))
        if offer is None or offer not in offers_for(schema):
            raise ServiceError("This data set does not offer that family; choose another one.")
        chosen = given.get("columns") or offer.columns(schema)
        return cls(
            offer,
            _columns(offer, schema, chosen),
            _clusters(offer, given.get("clusters")),
            budget_of(given.get("epsilon", "1"), given.get("delta") or "0"),
        )

    def model(self, schema: Schema, unit: RowUnit, **shared: Any) -> Any:
        """Return the estimator that answers the question."""
        first = () if self.clusters is None else (self.clusters,)
        declared = schema.only(self.columns)
        return self.offer.kind(*first, budget=self.budget, schema=declared, unit=unit, **shared)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data, the way :meth:`parsed` reads it."""
        return {
            "family": self.offer.name,
            "epsilon": _text(self.budget.epsilon),
            "delta": _text(self.budget.delta),
            "columns": list(self.columns),
            **({} if self.clusters is None else {"clusters": self.clusters}),
        }

    def digest_on(self, dataset_id: str) -> str:
        """Return what tells this question about a data set from every other one."""
        plain = json.dumps([dataset_id, self.to_dict()], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(plain.encode()).hexdigest()

    @property
    def words(self) -> str:
        """The question in a few words."""
        clusters = "" if self.clusters is None else f", {self.clusters} clusters"
        delta = f", δ = {float(self.budget.delta):g}" if self.budget.delta else ""
        return f"{self.offer.title}{clusters}, ε = {float(self.budget.epsilon):g}{delta}"


def _columns(offer: Offer, schema: Schema, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ServiceError("The columns are a list of names; give one name per item.")
    allowed = offer.columns(schema)
    if any(name not in allowed for name in given):
        raise ServiceError("A column is not among those that this family takes; leave it out.")
    chosen = tuple(name for name in allowed if name in given)
    if len(chosen) < offer.fewest:
        raise ServiceError(f"This family needs at least {offer.fewest} columns; choose more.")
    return chosen


def _clusters(offer: Offer, given: Any) -> int | None:
    if offer.clusters is None:
        return None
    try:
        number = int(str(given if given not in (None, "") else offer.clusters))
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_CLUSTERS:
        raise ServiceError(f"The number of clusters is from 1 to {MOST_CLUSTERS}; change it.")
    return number


def budget_of(epsilon: Any, delta: Any) -> Budget:
    """Return the budget that two texts mean, or refuse them in one sentence."""
    numbers = [_number("epsilon", epsilon), _number("delta", delta)]
    if numbers[0] > LARGEST_EPSILON:
        raise ServiceError(f"epsilon is at most {LARGEST_EPSILON} here; lower it.")
    return Budget.of(Budget(*numbers))


def _number(name: str, given: Any) -> Fraction:
    """Return the fraction that a text means; a long exponent would fill the memory."""
    text = str(given).strip()
    if not _NUMBER.fullmatch(text) or (text.count("/") and not int(text.split("/")[1])):
        raise ServiceError(f"{name} must be a number such as 0.5; change it.")
    return Fraction(text)


def _text(number: Fraction) -> str:
    """Return a number as its reader would write it, exactly."""
    short = f"{float(number):.15g}"
    return short if Fraction(short) == number else str(number)
