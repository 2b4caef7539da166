"""The offers: the estimators that can be asked for, with the words and the options of their forms.

An offer also knows how its estimator is fitted, planned, and tried on made-up data, so that nothing
else in the service tells one family from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from privclust.schema.schema import Schema
from privclust.service import options as opt
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
from privclust.service.options import Option
from privclust.source_target.solution import POINT_METRICS


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
        Takes what is declared and returns the columns that can be asked about.
    fewest : int
        The fewest columns that it needs; 0 if it takes a matrix as a whole.
    rows : callable
        ``rows(declared, clusters, n_rows, unit)`` makes up data for a dry run.
    counted : str or None
        The estimator's parameter for the number of clusters; None if it takes none.
    clusters : int or None
        The usual number of clusters.
    options : tuple of Option
    plan : callable
        ``plan(model, declared, most_rows, targets)`` returns the plan.
    takes_auto : bool
        Whether ``"auto"`` is a number of clusters.
    takes_targets : bool
        Whether public points come with the question.
    """

    name: str
    estimator: str
    title: str
    sentence: str
    columns: Callable[[Declared], tuple[str, ...]]
    fewest: int
    rows: Callable[..., Any]
    counted: str | None = None
    clusters: int | None = None
    options: tuple[Option, ...] = ()
    plan: Callable[..., Any] = field(default=planned_rows)
    takes_auto: bool = False
    takes_targets: bool = False

    @property
    def kind(self) -> type:
        """The class of the estimator."""
        module, _, name = self.estimator.partition(":")
        found: type = getattr(import_module(module), name)
        return found

    def is_for(self, declared: Declared) -> bool:
        """Tell whether data with this declaration can be asked this way."""
        if isinstance(declared, Counts):
            return not self.fewest
        return 0 < self.fewest <= len(self.columns(declared))


def _all(declared: Declared) -> tuple[str, ...]:
    assert isinstance(declared, Schema)  # noqa: S101  # see is_for
    return declared.names if declared.numeric else ()


def _listed(declared: Declared) -> tuple[str, ...]:
    assert isinstance(declared, Schema)  # noqa: S101
    return declared.categorical


def _numbers(declared: Declared) -> tuple[str, ...]:
    assert isinstance(declared, Schema)  # noqa: S101
    return declared.numeric


def _no_columns(declared: Declared) -> tuple[str, ...]:
    return ()


_RESCALE = Option("rescale", "Distances in units of declared widths", "switch", None, ("yes", "no"))
_CATEGORIES = opt.choice("metric", "Distance of categories", "auto", "mismatch", "dilca")
_PROFILES = opt.part("profile_share", "Histograms of each cluster", None)
_CONTEXTS = (
    opt.choice(
        "method", "Algorithm", "auto",
        "pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency",
    ),
    opt.choice(
        "context_rule", "Columns that others are compared by",
        "max-relevance", "mean-su", "relevant-non-redundant", "all",
    ),
    opt.whole("context_size", "How many of them", 3),
    opt.part("selection_share", "Choosing them", 0.3),
    opt.number("sigma", "Sigma", 1.0),
)  # fmt: skip
_PLACES = (
    opt.choice("method", "Algorithm", "rings", "nna", "nas"),
    opt.choice("metric", "Distance", *POINT_METRICS),
    opt.whole("n_projected", "Random dimensions to project to", None),
    opt.choice("coreset", "How sites are made (nna, nas)", "auto", "halving", "net"),
    opt.number("coreset_radius", "Distance of targets from sites, in diameters", 0.05),
    opt.whole("n_nearest", "Sources that each site averages (nas)", 150),
    opt.part("spread_share", "Spread of the sources (nas)", None),
    opt.part("counts_share", "Counts (nna)", 0.7),
    opt.number("false_cells", "Empty cells that may pass for occupied (nna)", 0.05),
    opt.switch("pull", "Keep averages in their cells (nna)", True),
    opt.beside("candidates", "Where new centres may be, if not at the points", "points", None),
    opt.beside("sample_weight", "How much each point counts", "numbers", None),
    opt.beside("forbidden", "Places in the list that must not be chosen, from 0", "places", ()),
    opt.beside("forced", "Places in the list that must be chosen, from 0", "places", ()),
)

OFFERS = {
    offer.name: offer
    for offer in (
        Offer(
            "kmeans",
            "privclust.clustering:PrivateKMeans",
            "Clusters (k-means)",
            "Groups of similar rows: their centres and roughly how many rows each has.",
            _all,
            1,
            clumps,
            "n_clusters",
            8,
            (
                opt.choice("method", "Algorithm", "auto", "cells", "cautious", "grid", "lloyd"),
                _CATEGORIES,
                _PROFILES,
                _RESCALE,
            ),
            takes_auto=True,
        ),
        Offer(
            "summarise",
            "privclust.clustering:PrivateSummary",
            "Summary for many questions",
            "Spends the budget once; clusters for every number are then free.",
            _all,
            1,
            clumps,
            options=(_CATEGORIES, _PROFILES, _RESCALE),
        ),
        Offer(
            "categorical",
            "privclust.categories:PrivateCategoricalKMeans",
            "Clusters of categories",
            "Groups of rows that hold categories, by distances learned from the data.",
            _listed,
            2,
            even_rows,
            "n_clusters",
            4,
            (*_CONTEXTS, opt.part("metric_share", "Learning the distances", 0.5)),
        ),
        Offer(
            "distances",
            "privclust.categories:PrivateDilca",
            "Distances between categories",
            "How alike the values of each column are, by what they occur with.",
            _listed,
            2,
            even_rows,
            options=(
                *_CONTEXTS,
                opt.columns("targets", "Only for these columns", None),
                opt.columns("ordinal", "Their order counts", ()),
                opt.switch("budget_per_target", "ε for each column, not for all", False),
            ),
        ),
        Offer(
            "source-target",
            "privclust.source_target:PrivateSourceTargetMedoids",
            "New centres beside these",
            "Chooses new places among public points that are far from the rows.",
            _numbers,
            1,
            sources,
            "n_centers",
            8,
            _PLACES,
            plan=planned_places,
            takes_targets=True,
        ),
        Offer(
            "cocluster",
            "privclust.coclustering:PrivateCoclustering",
            "Clusters of rows and columns",
            "Groups rows and columns of a matrix at once, and shows roughly what each block holds.",
            _no_columns,
            0,
            planted_counts,
            "n_row_clusters",
            5,
            (
                opt.whole("n_column_clusters", "Clusters of columns", 5),
                opt.choice("rule", "How rows are labelled", "prototypes", "tau"),
            ),
            plan=planned_counts,
        ),
    )
}


def offers_for(declared: Declared) -> list[Offer]:
    """Return what can be asked about data with this declaration."""
    return [offer for offer in OFFERS.values() if offer.is_for(declared)]
