"""The law of the most entropy that agrees with noisy tables of a few columns, and rows of it.

It is what ``mbi`` estimates (McKenna, Sheldon and Miklau, 2019), in NumPy alone: logarithms of
weights for the tables that were measured, exact inference on the junction tree, and mirror descent
with the step halved where it does not help. ``mbi`` compiles anew whenever a table is added, for
seconds, which a method that adds a hundred tables one by one cannot afford.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

__all__ = ["JunctionTree", "Measured", "TablesModel", "estimate", "tree_size"]

Columns = tuple[int, ...]
Tables = dict[Columns, np.ndarray]


@dataclass
class Measured:
    """All noisy versions of one table: their weighted mean, and the precision of its cells."""

    table: np.ndarray
    precision: float

    def add(self, noisy: np.ndarray, error: float) -> None:
        """Count another version in."""
        more = 1 / error**2
        self.table = (self.table * self.precision + noisy * more) / (self.precision + more)
        self.precision += more


def eliminated(sizes: list[int], sets: Iterable[Columns]) -> Iterator[tuple[int, set[int]]]:
    """Yield columns with their neighbours, always the one whose clique has the fewest cells."""
    near: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for one in sets:
        for column in one:
            near[column].update(set(one) - {column})

    def cells(column: int) -> int:
        found = sizes[column]
        for other in near[column]:
            found *= sizes[other]
        return found

    costs = {column: cells(column) for column in near}
    while costs:
        column = min(costs, key=costs.__getitem__)
        del costs[column]
        others = near.pop(column)
        for other in others:
            near[other] |= others - {other}
            near[other].discard(column)
        for other in others:
            costs[other] = cells(other)
        yield column, others


def tree_size(sizes: list[int], sets: Iterable[Columns]) -> int:
    """Return how many cells the cliques of the junction tree have together."""
    cliques: list[set[int]] = []
    for column, others in eliminated(sizes, sets):
        clique = others | {column}
        if not any(clique <= larger for larger in cliques):
            cliques.append(clique)
    return sum(int(np.prod([float(sizes[column]) for column in clique])) for clique in cliques)


class JunctionTree:
    """Cliques of columns, each after the one it hangs on, with the columns that the two share."""

    def __init__(self, sizes: list[int], sets: Iterable[Columns]) -> None:
        self.sizes = sizes
        cliques: list[Columns] = []
        for column, others in eliminated(sizes, sets):
            clique = others | {column}
            if not any(clique <= set(larger) for larger in cliques):
                cliques.append(tuple(sorted(clique)))
        self.cliques, self.parents, self.shared = [cliques.pop()], [-1], [()]
        while cliques:  # a spanning tree of the largest intersections is a junction tree
            pairs = (
                (len({*new} & {*old}), new, place)
                for new in cliques
                for place, old in enumerate(self.cliques)
            )
            _, new, place = max(pairs)
            cliques.remove(new)
            self.parents.append(place)
            self.shared.append(tuple(sorted({*new} & {*self.cliques[place]})))
            self.cliques.append(new)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Return the shape of a table."""
        return tuple(self.sizes[column] for column in columns)

    def home(self, columns: Columns) -> int | None:
        """Return the smallest clique that has these columns."""
        found = [place for place, clique in enumerate(self.cliques) if {*columns} <= {*clique}]
        size = {place: np.prod(self.shape(self.cliques[place])) for place in found}
        return min(found, key=size.__getitem__) if found else None


@dataclass
class TablesModel:
    """Expected counts: of the cliques of a junction tree, and whatever follows from them."""

    tree: JunctionTree
    weights: Tables
    total: float
    beliefs: list[np.ndarray] = field(init=False)
    tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        tree, asked = self.tree, [*self.weights]
        homes: list[Tables] = [{} for _ in tree.cliques]
        wanted: list[set[Columns]] = [set() for _ in tree.cliques]
        for columns in asked:
            place = tree.home(columns)
            assert place is not None
            homes[place][columns] = self.weights[columns]
            wanted[place].add(columns)
        self._infer(homes)
        self.tables = {}
        for belief, clique, these in zip(self.beliefs, tree.cliques, wanted, strict=True):
            self.tables |= sums(belief, clique, these)

    def _infer(self, homes: list[Tables]) -> None:
        """Pass messages to the root and back."""
        tree = self.tree
        up: list[np.ndarray] = [np.zeros(())] * len(homes)
        beliefs: list[np.ndarray] = [np.zeros(())] * len(homes)
        for place in range(len(homes))[::-1]:
            clique, factors = tree.cliques[place], homes[place]
            logs = np.broadcast_to(added(factors, clique), tree.shape(clique))
            top = logs.max()
            beliefs[place] = np.exp(logs - top)
            if place:
                below, parent = tree.shared[place], tree.parents[place]
                up[place] = summed(beliefs[place], clique, below)
                with np.errstate(divide="ignore"):
                    message = np.log(up[place])
                given = homes[parent].get(below)
                homes[parent][below] = message if given is None else given + message
        beliefs[0] *= self.total / beliefs[0].sum()
        for place in range(1, len(homes)):
            below, parent = tree.shared[place], tree.parents[place]
            now = summed(beliefs[parent], tree.cliques[parent], below)
            ratio = np.divide(now, up[place], out=np.zeros_like(now), where=up[place] > 0)
            beliefs[place] *= spread(ratio, below, tree.cliques[place])
        self.beliefs = beliefs

    def pairs(self) -> Tables:
        """Return the expected tables of all single columns and pairs."""
        found: Tables = {}
        d = len(self.tree.sizes)
        for place, clique in enumerate(self.tree.cliques):
            every = [one for r in (1, 2) for one in combinations(clique, r) if one not in found]
            found |= sums(self.beliefs[place], clique, set(every))
        beside: dict[int, list[int]] = {place: [] for place in range(len(self.tree.cliques))}
        for place, parent in enumerate(self.tree.parents[1:], 1):
            beside[place].append(parent)
            beside[parent].append(place)
        for column in range(d):
            for columns, table in self._across(column, beside):
                if columns not in found:
                    found[columns] = table
        return found

    def _across(
        self, column: int, beside: dict[int, list[int]]
    ) -> Iterator[tuple[Columns, np.ndarray]]:
        """Yield tables of a column and others that no clique has beside it."""
        tree = self.tree
        first = tree.home((column,))
        assert first is not None
        # Where to go, from where, and the table of the column (first) and the shared columns.
        ways: list[tuple[int, int, Columns, np.ndarray | None]] = [(first, -1, (), None)]
        while ways:
            here, source, known, joint = ways.pop()
            clique, belief = tree.cliques[here], self.beliefs[here]
            if joint is not None:
                for other in set(clique) - set(known):
                    if column < other:
                        yield (column, other), self._carried(joint, known, (other,), here)
            for place in beside[here]:
                if place == source:
                    continue
                shared = tuple(sorted({*clique} & {*tree.cliques[place]}))
                if column in tree.cliques[place]:
                    ways.append((place, here, (), None))
                elif joint is None:
                    table = summed(belief, clique, tuple(sorted({column, *shared})))
                    axis = sorted({column, *shared}).index(column)
                    ways.append((place, here, shared, np.moveaxis(table, axis, 0)))
                else:
                    table = self._carried(joint, known, shared, here)
                    ways.append((place, here, shared, table))

    def _carried(self, joint: np.ndarray, known: Columns, to: Columns, here: int) -> np.ndarray:
        """Return the table of a column and others of a clique, from its table with some of them."""
        tree, clique = self.tree, self.tree.cliques[here]
        both = tuple(sorted({*known, *to}))
        table = summed(self.beliefs[here], clique, both)
        below = summed(table, both, known)
        share = np.divide(joint, below, out=np.zeros_like(joint), where=below > 0)
        stay = [c for c in known if c in to]
        gone = [c for c in known if c not in to]
        new = [c for c in to if c not in known]
        left = np.transpose(
            share, [1 + known.index(c) for c in stay] + [0] + [1 + known.index(c) for c in gone]
        )
        right = np.transpose(table, [both.index(c) for c in [*stay, *gone, *new]])
        width = [int(np.prod(tree.shape(tuple(part)))) for part in (stay, gone, new)]
        made = left.reshape(width[0], -1, width[1]) @ right.reshape(width)
        made = made.reshape([*tree.shape(tuple(stay)), joint.shape[0], *tree.shape(tuple(new))])
        made = np.moveaxis(made, len(stay), 0)
        names = [*stay, *new]
        return np.transpose(made, [0] + [1 + names.index(c) for c in to])

    def rows(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Return rows in random order; their tables are those of the cliques, but for rounding."""
        made = np.zeros((n_rows, len(self.tree.sizes)), dtype=np.int64)
        for place, clique in enumerate(self.tree.cliques):
            given = self.tree.shared[place]
            new = tuple(column for column in clique if column not in given)
            order = [clique.index(column) for column in (*given, *new)]
            table = np.transpose(self.beliefs[place], order)
            table = table.reshape(int(np.prod(self.tree.shape(given))), -1)
            group = np.zeros(n_rows, dtype=np.int64)
            if given:
                group = np.ravel_multi_index(tuple(made[:, [*given]].T), self.tree.shape(given))
            drawn = rounded(table, group, rng)
            for column, codes in zip(
                new, np.unravel_index(drawn, self.tree.shape(new)), strict=True
            ):
                made[:, column] = codes
        return made


def rounded(table: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a code for each row by the line of its group: as many of each as is expected."""
    order = np.lexsort((rng.random(len(group)), group))
    counts = np.bincount(group, minlength=len(table))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ranks = np.arange(len(group)) - starts[group[order]]
    places = (ranks + rng.random(len(group))) / counts[group[order]]
    sums_before = np.cumsum(table, axis=1)
    sums_before /= np.maximum(sums_before[:, -1:], 1e-300)
    ends = sums_before + np.arange(len(table))[:, None]
    found = np.searchsorted(ends.ravel(), places + group[order], side="right")
    codes = np.empty(len(group), dtype=np.int64)
    codes[order] = np.clip(found - group[order] * table.shape[1], 0, table.shape[1] - 1)
    return codes


def spread(table: np.ndarray, columns: Columns, over: Columns) -> np.ndarray:
    """Return a table with an axis for each of the columns, of length one where it has none."""
    shape = iter(table.shape)
    return table.reshape([next(shape) if column in columns else 1 for column in over])


def summed(table: np.ndarray, columns: Columns, to: Columns) -> np.ndarray:
    """Return the sums of a table for some of its columns."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in to)
    return table.sum(axis=gone) if gone else table


def thirds(columns: Columns) -> list[Columns]:
    """Return the three sets of columns of which each pair of columns is in one."""
    parts = [columns[place::3] for place in range(3)]
    return [tuple(sorted(parts[a] + parts[b])) for a, b in ((0, 1), (0, 2), (1, 2))]


def parted(sets: Iterable[Columns], columns: Columns) -> tuple[list[Columns], dict[Columns, list]]:
    """Return the sets that are in none of the thirds, and those in each."""
    within: dict[Columns, list] = {third: [] for third in thirds(columns)}
    beside = []
    for one in sets:
        third = next((third for third in within if {*one} <= {*third}), None)
        (beside if third is None else within[third]).append(one)
    return beside, within


def added(factors: Tables, columns: Columns) -> np.ndarray:
    """Return the sum of tables, as a table of these columns; few large ones are added."""
    if len(columns) <= 3 or len(factors) <= 2:
        beside, within = [*factors], {}
    else:
        beside, within = parted(factors, columns)
    found = np.zeros([1] * len(columns))
    for third, these in within.items():
        if these:
            part = added({one: factors[one] for one in these}, third)
            found = found + spread(part, third, columns)
    for one in beside:
        found = found + spread(factors[one], one, columns)
    return found


def sums(table: np.ndarray, columns: Columns, wanted: set[Columns]) -> Tables:
    """Return the sums of a table for several sets of columns; few large ones are added."""
    if len(columns) <= 3 or len(wanted) <= 2:
        return {one: summed(table, columns, one) for one in wanted}
    beside, within = parted(wanted, columns)
    found = {one: summed(table, columns, one) for one in beside}
    for third, these in within.items():
        if these:
            found |= sums(summed(table, columns, third), third, set(these))
    return found


GROWTH = 1.1  # of the step, where it helped; mbi has 1.01, and halves it as well where not
# Steps at most, and the part of the loss that another must take off: of a round, and at the end.
STEPS, LAST_STEPS = (100, 1e-5), (1000, 1e-6)


def estimate(
    sizes: list[int],
    known: dict[Columns, Measured],
    total: float,
    before: TablesModel | None = None,
    *,
    last: bool = False,
) -> TablesModel:
    """Return the model of some tables, beginning from the one before."""
    iterations, tolerance = LAST_STEPS if last else STEPS
    tree = JunctionTree(sizes, known)
    start = before.weights if before else {}
    weights = {c: start.get(c, np.zeros(one.table.shape)) for c, one in known.items()}
    model = TablesModel(tree, weights, total)
    loss, slope = _loss(model, known)
    step = 2 / (max(one.precision for one in known.values()) * total)
    for _ in range(iterations):
        moved = {c: weights[c] - step * slope[c] for c in known}
        tried = TablesModel(tree, moved, total)
        less, turned = _loss(tried, known)
        expected = sum(np.vdot(slope[c], model.tables[c] - tried.tables[c]) for c in known)
        if loss - less < expected / 2:
            step /= 2
            continue
        gained = loss - less
        model, weights, loss, slope = tried, moved, less, turned
        step *= GROWTH
        if gained <= tolerance * loss:
            break
    return model


def _loss(model: TablesModel, known: dict[Columns, Measured]) -> tuple[float, Tables]:
    """Return half of the squared errors in units of the noise, and its slope for each cell."""
    gaps = {c: model.tables[c] - one.table for c, one in known.items()}
    slope = {c: gap * known[c].precision for c, gap in gaps.items()}
    return sum(float(np.vdot(gaps[c], slope[c])) for c in known) / 2, slope
