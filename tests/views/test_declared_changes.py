"""Neighbours change every exact answer by at most what its kernel declares, and by as much.

Exact answers are caught where they enter a mechanism, with what is declared about them, for many
small data sets: a few base sets, each with up to three more rows out of a list of extreme ones. All
norms of all changes that a step of any unit can make are compared with the lemma's. That the bound
is also reached shows that half of it, or a unit that is left out, would be noticed. Nothing is
held to what is declared here, for a few rows could hide that it is too little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations_with_replacement
from typing import Any
from unittest.mock import patch

import every_question as listed
import numpy as np
import pytest
from every_question import QUESTIONS, seeded
from scipy import sparse

from privclust.budget import Budget
from privclust.data.matrix.public import Groups
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.numbers.kernels import FiniteNumbers
from privclust.data.numbers.view import NumbersView
from privclust.data.papers.public import Critic, Zones
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.data.question import Pick, Question, Scores
from privclust.data.sites.public import Rings, TargetSpace
from privclust.data.sites.view import SitesView
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints, independent_tables
from privclust.data.table.view import TableView
from privclust.data.view import Noised, Picked
from privclust.privacy.meter import Meter
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.terms import unguarded

BUDGET = Budget(2, 1e-6)
ADD, REPLACE, PEOPLE = AddRemoveRow(), ReplaceRow(), Person("who", 3)
# Rounding inwards gives away a little of the coarsest vectors, which are 2^7 steps long.
NEARLY = 0.95
Rows = tuple[Any, ...]


@contextmanager
def caught() -> Iterator[list[tuple[Any, Any]]]:
    """Keep what is declared about every exact answer, and the answer."""
    seen: list[tuple[Question | Pick, Any]] = []

    def watched(kind: Any, name: str) -> Any:
        original = kind.draw

        def draw(self: Any, exact: Any, source: Any) -> Any:
            seen.append((getattr(self, name), np.array(exact, object)))
            return original(self, exact, source)

        return patch.object(kind, "draw", draw)

    with unguarded(), watched(Noised, "question"), watched(Picked, "pick"):
        yield seen


# Data sets: rows of numbers or codes, entries or rows of a matrix.


def open_points(kind: Any, rows: Rows) -> Any:
    data = np.array(rows, float).reshape(-1, 2)
    return kind(listed.rows_of(data), listed.domain_of(data), ADD, Meter(BUDGET), seeded())


def open_table(rows: Rows) -> TableView:
    source = listed.rows_of(np.array(rows, np.int64), listed.CATEGORIES.names)
    return TableView(source, CategoryCoder(listed.CATEGORIES), ADD, Meter(BUDGET), seeded())


def open_embedded(rows: Rows) -> PointsView:
    """Rows of three values, of which only the first two have points: the corners of a square."""
    corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    points = [corners, corners[:, ::-1], 0 * corners]
    return open_table(rows).as_points(ValuePoints(points), 1.0)


def open_numbers(rows: Rows) -> NumbersView:
    source = listed.rows_of(np.array(rows, float))
    return NumbersView(source, FiniteNumbers(2), ADD, Meter(BUDGET), seeded())


def open_sites(rows: Rows) -> SitesView:
    data = np.array(rows, float).reshape(-1, 2)
    source, space = listed.rows_of(data), TargetSpace(np.array([[-1.0, -1.0], [1.0, 1.0]]))
    return SitesView(source, listed.domain_of(data), space, ADD, Meter(BUDGET), seeded())


def open_entries(places: Rows) -> MatrixView:
    """A matrix of two rows and three columns, of which each place adds a step of an entry."""
    counts = np.zeros((2, 3), np.int64)
    np.add.at(counts, tuple(np.array(places, int).reshape(-1, 2).T), 1)
    return MatrixView(sparse.csr_array(counts), MatrixCount(), Meter(BUDGET), seeded())


def open_profiles(rows: Rows) -> ProfilesView:
    counts = sparse.csr_array(np.array(rows, np.int64))
    return ProfilesView(counts, Meter(BUDGET), seeded())


# In the unit ball the corners of the box lie at distance one. The last are beyond the box.
CORNERS = [(1, 1), (-1, -1), (1, -1), (-1, 1), (0, 0), (0, 1), (0, -1), (1, 0), (9e9, 9e9)]
POINT_BASES = [((0, 0),), ((0.2, -0.3), (1, 1), (1, 1)), ((-0.6, 0.1), (0.4, 0.5), (0, -1))]
CODES = [(0, 0, 1), (0, 1, 0), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 2, 2), (0, 0, 0)]
CODE_BASES = [
    ((0, 1, 1),) * 2,
    ((0, 0, 0),) * 6,
    ((0, 0, 0), (1, 1, 1), (2, 0, 1), (1, 2, 0)),
]
ODD_NUMBERS = [(0.0, 0.0), (1e300, -1e300), (np.nan, np.inf), (-1.0, 5e-324)]
PLACES = [(0, 0), (1, 2), (1, 0), (0, 1)]
_RNG = np.random.default_rng(0)
CORNERS += [tuple(row) for row in _RNG.uniform(-1, 1, (2, 2)).tolist()]
CODES += [tuple(row) for row in _RNG.integers(3, size=(2, 3)).tolist()]
PROFILES = [(0, 0, 0), (1, 0, 0), (0, 5, 9), (3, 3, 3), (0, 0, 2**31 - 1)]

WHOLE, CLIPPED = Projection(np.zeros(2)), Projection(np.zeros(2), radius=1.0)
# A centre in the middle, with rows of it on both sides, and one in a corner.
MIDDLE = np.array([[0.0, 0.0], [0.7, 0.7]])
FAR = np.array([[0.0, 0.0], [0.7, 0.7], [0.72, 0.7]])
ENDS = np.array([[-1.0, -1.0], [1.0, 1.0]]) / math.sqrt(2)
ALONG = np.array([[1.0, 1.0]]) / math.sqrt(2)
ZONES = Zones(MIDDLE, MIDDLE, np.full(2, 2.0), np.stack([ENDS, ENDS]))
RINGS = Rings(np.array([0, 0.4, 9.0]), (ENDS, ENDS))
# Three times the same site, at the edge of the ball, so that a row can be farthest from all.
SITES = np.ones((3, 2))
CENTRE_AND_END = np.array([[0.0, 0.0], [1.0, 1.0]])
EXPECTED = [np.array([8.0, 1.0, 1.0])] * 3
WEIGHTS = np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 0.25]])
HALVES, PAIRS = Groups(np.array([0, 1]), 2), Groups(np.array([0, 1, 1]), 2)
# Steep enough to be shortened, and open on one side only: a replaced row turns it around.
CRITIC = Critic(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.zeros(2), np.array([50.0, 50.0]))


@dataclass(frozen=True)
class Case:
    """A question, and data sets on which its answers differ most.

    ``loose`` has, by unit, the share of the bound that is reached where it cannot be all of it.
    """

    open: Callable[[Rows], Any]
    ask: Callable[[Any, Any], Any]
    rows: list[Any]
    bases: list[Rows]
    loose: dict[Any, float] = field(default_factory=dict)


def thirds(share: Any) -> dict[str, Any]:
    return dict(zip(("counts", "offsets", "square"), share.split([1, 1, 1]), strict=True))


# Replacing a row does not change the number of rows, which gets the noise of counts all the same.
COUNT = {REPLACE: 0.0}
# A row adds least where it is the first of its value of the target, of which there are two more.
CONTEXT = {PEOPLE: 0.66}
_points = partial(Case, partial(open_points, PointsView), rows=CORNERS, bases=POINT_BASES)
_embedded = partial(Case, open_embedded, rows=CODES, bases=CODE_BASES)
_papers = partial(Case, partial(open_points, PapersView), rows=CORNERS, bases=POINT_BASES)
_table = partial(Case, open_table, rows=CODES, bases=CODE_BASES)
_numbers = partial(Case, open_numbers, rows=ODD_NUMBERS, bases=[((0.1, 0.2),), ((0, 1), (1, 2))])
_sites = partial(Case, open_sites, rows=CORNERS, bases=[(), ((-1, -1),), ((0.2, 0.3), (1, 1))])
_matrix = partial(Case, open_entries, rows=PLACES, bases=[(), ((0, 0),) * 2, ((1, 1), (0, 2))])
_profiles = partial(Case, open_profiles, rows=PROFILES, bases=[((1, 1, 1),), ((0, 2, 7),) * 2])

_POINTS: dict[str, dict[str, Any]] = {
    "count": {"ask": lambda v, s: v.ask_count("q", s), "loose": COUNT},
    "clusters": {"ask": lambda v, s: v.ask_clusters("q", WHOLE, MIDDLE, 0.5, **thirds(s))},
    "grouped_clusters": {
        "ask": lambda v, s: v.ask_grouped_clusters(
            "q", WHOLE, FAR, np.array([0, 1, 1]), 0.5, **thirds(s)
        )
    },
    # Two vectors of squares and products are never at an obtuse angle.
    "second_moments": {
        "ask": lambda v, s: v.ask_second_moments("q", CLIPPED, s),
        "loose": {REPLACE: 0.45},
    },
    # A row of each component is one in its count, so that no two of them are opposite.
    "components": {"ask": listed._POINTS["components"], "loose": {REPLACE: 0.3}},
    "cluster_histograms": {
        "ask": lambda v, s: v.ask_cluster_histograms(
            "q", MIDDLE, np.array([0, 1]), np.array([[-0.1, 0.1]] * 2), s
        )
    },
}
CASES: dict[tuple[str, str], Case] = {
    **{("points", name): _points(**options) for name, options in _POINTS.items()},
    **{("embedded", name): _embedded(**options) for name, options in _POINTS.items()},
    ("papers", "choices"): _papers(lambda v, s: v.ask_choices("q", ZONES, s)),
    ("papers", "zone_cells"): _papers(lambda v, s: v.ask_zone_cells("q", ZONES, s)),
    ("papers", "best_swap"): _papers(
        lambda v, s: v.ask_best_swap("q", CLIPPED, ENDS[:1], ENDS[1:], s)
    ),
    # Loadings are at least zero, so no row turns around what another one adds.
    ("papers", "factor_sums"): _papers(
        lambda v, s: v.ask_factor_sums("q", ALONG, s), loose={REPLACE: 0.24}
    ),
    # The gradient in the shift of a layer that is open to both rows points one way.
    ("papers", "critic_gradients"): _papers(
        lambda v, s: v.ask_critic_gradients("q", CRITIC, 1.0, s), loose={REPLACE: 0.49}
    ),
    ("table", "count"): _table(lambda v, s: v.ask_count("q", s), loose=COUNT),
    ("table", "histograms"): _table(lambda v, s: v.ask_histograms("q", s)),
    ("table", "pair_tables"): _table(lambda v, s: v.ask_pair_tables("q", [(0, 1), (1, 2)], s)),
    ("table", "entropies"): _table(lambda v, s: v.ask_entropies("q", [(0,), (0, 1)], 4, s)),
    ("table", "relevant_attributes"): _table(
        lambda v, s: v.ask_relevant_attributes("q", 0, 1, 4, s), loose=CONTEXT
    ),
    ("table", "relevant_context"): _table(
        lambda v, s: v.ask_relevant_context("q", 0, 1, 4, s), loose=CONTEXT
    ),
    ("table", "spanning_tree"): _table(
        lambda v, s: v.ask_spanning_tree("q", independent_tables(EXPECTED), s)
    ),
    ("numbers", "count"): _numbers(lambda v, s: v.ask_count("q", s), loose=COUNT),
    ("numbers", "histograms"): _numbers(lambda v, s: v.ask_histograms("q", listed.EDGES, s)),
    ("sites", "count"): _sites(lambda v, s: v.ask_count("q", s), loose=COUNT),
    ("sites", "histogram"): _sites(lambda v, s: v.ask_histogram("q", RINGS, s)),
    ("sites", "cells"): _sites(
        lambda v, s: v.ask_cells(
            "q", np.array([[0, 0], [1.0, 1.0]]), counts=s.take("1/2"), sums=s.take("1/2")
        )
    ),
    ("sites", "nearest_distance"): _sites(lambda v, s: v.ask_nearest_distance("q", SITES, 3, s)),
    ("sites", "nearest_averages"): _sites(lambda v, s: v.ask_nearest_averages("q", SITES, 3, s)),
    **{
        (family, name): _matrix(ask)
        for family in ("counts", "entries")
        for name, ask in {
            "total": lambda v, s: v.ask_total("q", s),
            "row_table": lambda v, s: v.ask_row_table("q", PAIRS, s),
            "column_table": lambda v, s: v.ask_column_table("q", HALVES, s),
            "block_table": lambda v, s: v.ask_block_table("q", HALVES, PAIRS, s),
            "row_choices": lambda v, s: v.ask_row_choices("q", WEIGHTS, s),
            "column_choices": lambda v, s: v.ask_column_choices("q", WEIGHTS[:2], s),
        }.items()
    },
    ("profiles", "profile_sums"): _profiles(lambda v, s: v.ask_profile_sums("q", np.eye(3)[:2], s)),
    ("profiles", "block_shares"): _profiles(
        lambda v, s: v.ask_block_shares("q", np.eye(3)[:2], PAIRS, s)
    ),
}
UNITS = {"counts": [MatrixCount()], "entries": [MatrixEntry(3)], "profiles": [MatrixRow()]}


def steps(unit: Any, rows: list[Any]) -> Iterable[tuple[Rows, Rows]]:
    """Yield what each of two neighbours has beside the same other rows."""
    step = unit.one_step
    if step.replaces:
        yield from (((x,), (y,)) for x in rows for y in rows)
        return
    for count in {1, step.terms}:
        yield from (((), chosen) for chosen in combinations_with_replacement(rows, count))


class Answers:
    """The exact answers of a question about data sets, each computed once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._rehearsal_arguments: dict[Rows, list[tuple[Any, Any]]] = {}

    def __call__(self, rows: Rows) -> list[tuple[Any, Any]]:
        if rows not in self._rehearsal_arguments:
            with caught() as seen:
                self.case.ask(self.case.open(rows), BUDGET.whole)
            self._rehearsal_arguments[rows] = seen
        return self._rehearsal_arguments[rows]


def compared(asked: Any, change: Any, unit: Any) -> dict[str, float]:
    """Return the size of a change, as shares of what is declared of a step."""
    bound = asked.term.over(unit.one_step)
    lines = change.reshape(-1, change.shape[-1])
    if isinstance(asked.term, Scores):
        return {"range": sum(max(line) - min(line) for line in lines) / bound}
    squares = [sum(int(entry) ** 2 for entry in line) for line in lines]
    return {
        "l1": sum(abs(int(entry)) for entry in change.ravel()) / bound.l1,
        "square": sum(squares) / bound.square,
        "length": sum(map(math.sqrt, squares)) / bound.length,
    }


def that_count(asked: Any, family: str) -> set[str]:
    """Return the norms that some mechanism is made for."""
    if isinstance(asked, Pick):
        return {"range"}
    pure = "length" if asked.dimension else "l1"
    return {"square"} if family == "profiles" else {"square", pure}


def largest_changes(answers: Answers, unit: Any) -> dict[str, tuple[Any, dict[str, float]]]:
    """Return the largest change of each part of an answer, by each norm."""
    found: dict[str, tuple[Any, dict[str, float]]] = {}
    for base in answers.case.bases:
        for one, other in steps(unit, answers.case.rows):
            pairs = zip(answers((*base, *one)), answers((*base, *other)), strict=True)
            for (asked, left), (_, right) in pairs:
                new = compared(asked, right - left, unit)
                old = found.get(asked.of, (asked, dict.fromkeys(new, 0.0)))[1]
                found[asked.of] = asked, {norm: max(new[norm], old[norm]) for norm in new}
    return found


def test_every_question_is_tried() -> None:
    assert CASES.keys() == {(asked.view.__name__, asked.method) for asked in QUESTIONS}


@pytest.mark.parametrize(("family", "method"), CASES)
def test_neighbours_change_an_answer_by_what_is_declared_and_no_more(
    family: str, method: str
) -> None:
    case = CASES[family, method]
    answers = Answers(case)
    for unit in UNITS.get(family, [ADD, REPLACE, PEOPLE]):
        for asked, changes in largest_changes(answers, unit).values():
            assert max(changes.values()) <= 1 + 1e-12, (unit, asked.of, changes)
            least = case.loose.get(unit, NEARLY)
            for norm in that_count(asked, family):
                assert changes[norm] >= least, (unit, asked.of, changes)
