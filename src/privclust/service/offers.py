"""The offers: the tasks that can be asked for, with how each is fitted, planned and tried out.

Words and options come from the records of the families, so that nothing else in the service tells
one family from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from privclust.categories.task import DISTANCES
from privclust.clustering.task import AUTO, KMEANS, SUMMARISE
from privclust.coclustering.task import COCLUSTER
from privclust.parameters import SERVICE
from privclust.service.declared import Counts, Declared
from privclust.service.made_up import (
    clumps,
    even_rows,
    planned_counts,
    planned_places,
    planned_rows,
    planted_counts,
    sources,
)
from privclust.service.options import Option, method_option
from privclust.source_target.task import SOURCE_TARGET
from privclust.tasks import Task


@dataclass(frozen=True)
class Offer:
    """One task that can be asked for."""

    task: Task  # its words, estimators and parameters
    # ``rows(declared, clusters, n_rows, unit)`` makes up data for a dry run.
    rows: Callable[..., Any]
    clusters: int | None = None  # the usual number of clusters; None if it takes none
    # ``plan(model, declared, most_rows, targets)`` returns the plan.
    plan: Callable[..., Any] = field(default=planned_rows)

    @property
    def name(self) -> str:
        """What a request calls it."""
        return self.task.name

    @property
    def title(self) -> str:
        """What a reader calls it."""
        return self.task.title

    @property
    def sentence(self) -> str:
        """What it is good for."""
        return self.task.sentence

    @property
    def fewest(self) -> int:
        """The fewest columns that it needs; 0 if it takes a matrix as a whole."""
        return self.task.fewest

    @property
    def counted(self) -> str | None:
        """The parameter for the number of clusters; None if it takes none."""
        return self.task.clusters or None

    @property
    def takes_auto(self) -> bool:
        """Whether ``"auto"`` is a number of clusters."""
        own = self.task.parameters().get(self.task.clusters)
        return own is not None and AUTO in own.also

    @property
    def takes_targets(self) -> bool:
        """Whether public points come with the question."""
        return self.task.takes == "targets"

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen, with the defaults of the estimator."""
        offered = [variant for variant in self.task.variants if variant.in_service]
        methods = [method for variant in offered for method in variant.methods]
        first = (method_option(methods),) if len(methods) > 1 else ()
        parameters = self.task.parameters(in_service=True).values()
        others = (
            Option.of(parameter)
            for parameter in parameters
            if SERVICE in parameter.seen and parameter.name not in ("method", self.task.clusters)
        )
        return (*first, *others)

    def kind(self, method: str | None) -> type:
        """Return the class of the estimator that a method means."""
        return self.task.variant(method).kind

    def arguments(self, method: str | None, given: dict[str, Any]) -> dict[str, Any]:
        """Return what that class takes of the options that are given."""
        return self.task.variant(method).arguments(given)

    def columns(self, declared: Declared) -> tuple[str, ...]:
        """Return the columns that can be asked about."""
        if isinstance(declared, Counts):
            return ()
        if self.task.takes == "rows":
            return declared.names
        return declared.categorical if self.task.takes == "categories" else declared.numeric

    def is_for(self, declared: Declared) -> bool:
        """Return whether data with this declaration can be asked this way."""
        if isinstance(declared, Counts):
            return not self.fewest
        return 0 < self.fewest <= len(self.columns(declared))


OFFERS = {
    offer.name: offer
    for offer in (
        Offer(KMEANS, clumps, 8),
        Offer(SUMMARISE, clumps),
        Offer(DISTANCES, even_rows),
        Offer(SOURCE_TARGET, sources, 8, planned_places),
        Offer(COCLUSTER, planted_counts, 5, planned_counts),
    )
}


def offers_for(declared: Declared) -> list[Offer]:
    """Return what can be asked about data with this declaration."""
    return [offer for offer in OFFERS.values() if offer.is_for(declared)]
