"""Every question of every view, on a few rows: one list, so that each property is tested of all.

A question is asked of a view by ``ask(view, share)``. What reaches the noise is seen by
:func:`exact_draws`, because everything exact that can leave passes through ``draw`` of a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from privclust.budget import Budget, Share
from privclust.data.encode import Domain
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.numbers.kernels import FiniteNumbers
from privclust.data.numbers.view import NumbersView
from privclust.data.papers.public import Critic, Zones
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Components, Projection
from privclust.data.points.view import PointsView
from privclust.data.sites.public import Rings, TargetSpace
from privclust.data.sites.view import SitesView
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints, independent_tables
from privclust.data.table.view import TableView
from privclust.privacy import mechanisms
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.reading.opening import open_rows
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema
from privclust.unit.matrix import MatrixCount, MatrixEntry
from privclust.unit.rows import AddRemoveRow

MECHANISMS = (
    mechanisms.BallLaplace,
    mechanisms.DiscreteGaussian,
    mechanisms.DiscreteLaplace,
    mechanisms.Exponential,
    mechanisms.NoisyTopK,
    mechanisms.PermuteAndFlip,
)
# In ρ, which every question takes.
BUDGET = Budget(2, 1e-6)

POINTS = np.array([[0.1, 0.2], [-0.5, 0.4], [0.9, -0.9], [0.0, 0.0]])
CODES = np.array([[0, 1, 2], [1, 1, 0], [0, 0, 1], [1, 0, 2]])
COUNTS = sparse.csr_array(np.array([[1, 0, 2], [0, 3, 1]]))
TARGETS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
CATEGORIES = Schema({name: Categories([0, 1, 2]) for name in "abc"})
FRAME = Projection(np.zeros(2))
CLIPPED = Projection(np.zeros(2), radius=1.0)
CENTRES = np.array([[0.3, 0.3], [-0.3, 0.0]])
CELLS, GROUPS = np.array([[0.3, 0.3], [-0.3, 0.0], [0.1, -0.4]]), np.array([1, 0, 1])
COMPONENTS = Components(CENTRES, np.array([4 * np.eye(2), 5 * np.eye(2)]), np.array([0.0, 0.5]),
                        1.5, 2.0, 80, (41448, 897, 114), (11, 22))  # fmt: skip
PLACES, CUTS = np.array([1, 0]), np.array([[-0.2, 0.4], [-0.5, 0.1]])
EDGES = {1: np.array([-0.5, 0.3]), 0: np.array([0.0])}
ZONES = Zones(CENTRES, CENTRES, np.ones(2), np.stack([CENTRES, -CENTRES]))
RINGS = Rings(np.array([0, 0.4, 1.0]), (TARGETS[:2], TARGETS[2:]))
PROTOTYPES = np.eye(3)[:2]
CRITIC = Critic(np.eye(2), np.zeros(2), np.ones(2))
MARGINS = [np.array([2.0, 1.0, 1.0])] * 3
ROW_GROUPS, COLUMN_GROUPS = Groups(np.array([0, 1]), 2), Groups(np.array([0, 1, 1]), 2)
WEIGHTS = np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 0.25]])


class UnreadError(AssertionError):
    """Rows were read where none may be."""


class Unreadable:
    """A matrix with a public shape and no entries that anybody may see."""

    shape = COUNTS.shape

    def __getattr__(self, name: str) -> Any:
        raise UnreadError(name)


def rows_of(data: Any, names: Any = None, *, readable: bool = True) -> Any:
    """Return a source of rows; one that is not readable fails as soon as a block is wanted."""
    source = open_rows(data, names)
    if not readable:

        def blocks() -> Any:
            raise UnreadError("blocks")

        source.blocks = blocks  # type: ignore[method-assign]
    return source


def domain_of(data: Any) -> Domain:
    return Domain.from_schema(Schema.from_bounds(-1, 1, n_columns=data.shape[1]))


def points(meter: Meter, noise: Any, *, readable: bool = True) -> PointsView:
    source = rows_of(POINTS, readable=readable)
    return PointsView(source, domain_of(POINTS), AddRemoveRow(), meter, noise)


def papers(meter: Meter, noise: Any, *, readable: bool = True) -> PapersView:
    source = rows_of(POINTS, readable=readable)
    return PapersView(source, domain_of(POINTS), AddRemoveRow(), meter, noise)


def numbers(meter: Meter, noise: Any, *, readable: bool = True) -> NumbersView:
    source = rows_of(POINTS, readable=readable)
    return NumbersView(source, FiniteNumbers(2), AddRemoveRow(), meter, noise)


def table(meter: Meter, noise: Any, *, readable: bool = True) -> TableView:
    source = rows_of(CODES, CATEGORIES.names, readable=readable)
    return TableView(source, CategoryCoder(CATEGORIES), AddRemoveRow(), meter, noise)


def embedded(meter: Meter, noise: Any, *, readable: bool = True) -> PointsView:
    values = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, 0.1]])
    return table(meter, noise, readable=readable).as_points(ValuePoints([values] * 3), 1.0)


def sites(meter: Meter, noise: Any, *, readable: bool = True) -> SitesView:
    source = rows_of(POINTS, readable=readable)
    space = TargetSpace(TARGETS)
    return SitesView(source, domain_of(POINTS), space, AddRemoveRow(), meter, noise)


def counts(meter: Meter, noise: Any, *, readable: bool = True) -> MatrixView:
    return MatrixView(COUNTS if readable else Unreadable(), MatrixCount(), meter, noise)


def entries(meter: Meter, noise: Any, *, readable: bool = True) -> MatrixView:
    return MatrixView(COUNTS if readable else Unreadable(), MatrixEntry(3), meter, noise)


def profiles(meter: Meter, noise: Any, *, readable: bool = True) -> ProfilesView:
    return ProfilesView(COUNTS if readable else Unreadable(), meter, noise)


@dataclass(frozen=True)
class Asked:
    """A question of a view."""

    view: Callable[..., Any]
    method: str
    ask: Callable[[Any, Share], Any]

    def __str__(self) -> str:
        return f"{self.view.__name__}.{self.method}"


def _clusters(view: PointsView, share: Share) -> Any:
    parts = dict(zip(("counts", "offsets", "square"), share.split([1, 1, 1]), strict=True))
    return view.ask_clusters("q", FRAME, CENTRES, 0.5, **parts)


def _grouped(view: PointsView, share: Share) -> Any:
    parts = dict(zip(("counts", "offsets", "square"), share.split([1, 1, 1]), strict=True))
    return view.ask_grouped_clusters("q", FRAME, CELLS, GROUPS, 0.5, **parts)


def _components(view: PointsView, share: Share) -> Any:
    """Ask about components of their own shapes, and about tied ones without a background."""
    *rest, last = share.split([1, 1, 1])
    around = replace(COMPONENTS, background=-3.0)
    return (
        view.ask_components("q", around, last),
        view.ask_components("q", replace(COMPONENTS, tied=True), *rest),
    )


def _cells(view: SitesView, share: Share) -> Any:
    one, other = share.split([1, 1])
    return view.ask_cells("q", TARGETS, counts=one, sums=other)


_POINTS = {
    "count": lambda v, s: v.ask_count("q", s),
    "clusters": _clusters,
    "grouped_clusters": _grouped,
    "second_moments": lambda v, s: v.ask_second_moments("q", FRAME, s),
    "components": _components,
    "cluster_histograms": lambda v, s: v.ask_cluster_histograms("q", CENTRES, PLACES, CUTS, s),
}
_PAPERS = {
    "choices": lambda v, s: v.ask_choices("q", ZONES, s),
    "zone_cells": lambda v, s: v.ask_zone_cells("q", ZONES, s),
    "best_swap": lambda v, s: v.ask_best_swap("q", CLIPPED, CENTRES, CELLS, s),
    "factor_sums": lambda v, s: v.ask_factor_sums("q", np.eye(2), s),
    "critic_gradients": lambda v, s: v.ask_critic_gradients("q", CRITIC, 1.0, s),
}
_TABLE = {
    "count": lambda v, s: v.ask_count("q", s),
    "histograms": lambda v, s: v.ask_histograms("q", s),
    "pair_tables": lambda v, s: v.ask_pair_tables("q", [(0, 1), (1, 2)], s),
    "entropies": lambda v, s: v.ask_entropies("q", [(0,), (0, 1)], 4, s),
    "relevant_attributes": lambda v, s: v.ask_relevant_attributes("q", 0, 1, 4, s),
    "relevant_context": lambda v, s: v.ask_relevant_context("q", 0, 1, 4, s),
    "spanning_tree": lambda v, s: v.ask_spanning_tree("q", independent_tables(MARGINS), s),
}
_SITES = {
    "count": lambda v, s: v.ask_count("q", s),
    "histogram": lambda v, s: v.ask_histogram("q", RINGS, s),
    "cells": _cells,
    "nearest_distance": lambda v, s: v.ask_nearest_distance("q", TARGETS, 2, s),
    "nearest_averages": lambda v, s: v.ask_nearest_averages("q", TARGETS, 2, s),
}
_MATRIX = {
    "total": lambda v, s: v.ask_total("q", s),
    "row_table": lambda v, s: v.ask_row_table("q", COLUMN_GROUPS, s),
    "column_table": lambda v, s: v.ask_column_table("q", ROW_GROUPS, s),
    "block_table": lambda v, s: v.ask_block_table("q", ROW_GROUPS, COLUMN_GROUPS, s),
    "row_choices": lambda v, s: v.ask_row_choices("q", WEIGHTS, s),
    "column_choices": lambda v, s: v.ask_column_choices("q", WEIGHTS[:2], s),
}
_NUMBERS = {
    "count": lambda v, s: v.ask_count("q", s),
    "histograms": lambda v, s: v.ask_histograms("q", EDGES, s),
}
_PROFILES = {
    "profile_sums": lambda v, s: v.ask_profile_sums("q", PROTOTYPES, s),
    "block_shares": lambda v, s: v.ask_block_shares("q", PROTOTYPES, COLUMN_GROUPS, s),
}

QUESTIONS = [
    Asked(view, method, ask)
    for view, asked in (
        (points, _POINTS),
        (embedded, _POINTS),
        (papers, _PAPERS),
        (table, _TABLE),
        (numbers, _NUMBERS),
        (sites, _SITES),
        (counts, _MATRIX),
        (entries, _MATRIX),
        (profiles, _PROFILES),
    )
    for method, ask in asked.items()
]

# What a view tells for planning, from public facts, and what makes another view.
NO_QUESTIONS = {
    "as_points",
    "cell_noise",
    "count_error",
    "count_noise",
    "moment_error",
    "offset_error",
    "square_error",
    "table_error",
}


def seeded() -> ExactNoise:
    return ExactNoise(SeededBits(0))


@contextmanager
def exact_draws() -> Iterator[list[tuple[Any, Any]]]:
    """Keep every mechanism that is drawn from, with the exact integers it is given."""
    seen: list[tuple[Any, Any]] = []

    def watched(kind: Any) -> Any:
        original = kind.draw

        def draw(self: Any, exact: Any, noise: Any) -> Any:
            seen.append((self, exact.copy()))
            return original(self, exact, noise)

        return patch.object(kind, "draw", draw)

    with ExitStack() as stack:
        for kind in MECHANISMS:
            stack.enter_context(watched(kind))
        yield seen
