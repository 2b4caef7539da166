"""Synthetic rows of MST or AIM from a file of codes.

Usage: ``python rows_peer.py mst|aim ours|mbi|mbi-last codes.csv SIZES RHO SEED made.csv``, SIZES as
a JSON list. Writes as many rows of codes as it was given and prints the CPU seconds that it took.
The model behind both is a small one of ours, or as ``mbi`` estimates it, by an interpreter that has
it: always, or once all tables are there.

MST is the mechanism of McKenna, Miklau and Sheldon (2021), in our own words: a third of ρ each for
single columns, for a tree of pairs by the exponential mechanism, and for the tables of these pairs;
values that do not stand out from the noise are pooled. AIM is that of McKenna, Mullins, Sheldon and
Miklau (2022), in our own words too: single columns first, then one table after another, each the
one that the model explains worst, with less noise whenever little is learned. Its workload is that
of all pairs. Rounds, the share of the choice and the size of the model are the authors'.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from tables_model import Columns, JunctionTree, Measured, TablesModel, tree_size

POOLED = 3.0  # errors
# Of AIM: rounds for each column, tables that are too large, and the size of the model.
ROUNDS, MOST_CELLS, MEGABYTES = 16, 10_000, 80.0

# Where the estimates are; only an interpreter that has mbi can import its module.
ESTIMATES = {
    "ours": ("tables_model", "estimate"),
    "mbi": ("mbi_model", "estimate"),
    "mbi-last": ("mbi_model", "estimate_at_the_end"),
}

Known = dict[Columns, Measured]


class Estimate(Protocol):
    """Estimates the model of noisy tables, from the model before, if there is one."""

    def __call__(
        self,
        sizes: list[int],
        known: Known,
        total: float,
        before: TablesModel | None = None,
        *,
        last: bool = False,
    ) -> TablesModel: ...


@dataclass
class Table:
    """Codes of columns, how many each column has, and noise."""

    codes: np.ndarray
    sizes: list[int]
    rng: np.random.Generator

    def exact(self, columns: Columns) -> np.ndarray:
        """Return the table of some columns."""
        shape = [self.sizes[column] for column in columns]
        flat = np.ravel_multi_index(tuple(self.codes[:, [*columns]].T), shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)

    def measure(self, known: Known, columns: Columns, error: float) -> None:
        """Add a noisy table to those that are known."""
        exact = self.exact(columns)
        noisy = exact + self.rng.normal(0, error, exact.shape)
        if columns in known:
            known[columns].add(noisy, error)
        else:
            known[columns] = Measured(noisy, error**-2)

    def singles(self) -> list[Columns]:
        """Return all single columns."""
        return [(column,) for column in range(len(self.sizes))]


class Pooled:
    """Codes of which rare ones share the last."""

    def __init__(self, noisy: np.ndarray, error: float) -> None:
        rare = noisy < POOLED * error
        if rare.sum() < 2 or (~rare).sum() < 1:
            rare[:] = False
        self.rare = np.flatnonzero(rare)
        self.to = np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)
        self.noisy = np.bincount(self.to, noisy)

    def back(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return codes as they were; any of the rare ones for what was pooled."""
        first = np.array([np.flatnonzero(self.to == code)[0] for code in range(len(self.noisy))])
        found = first[codes]
        if len(self.rare):
            shared = codes == len(self.noisy) - 1
            found[shared] = self.rare[rng.integers(0, len(self.rare), int(shared.sum()))]
        return found


def mst(table: Table, rho: float, estimate: Estimate) -> np.ndarray:
    """Return synthetic rows."""
    total, known = float(len(table.codes)), {}
    error = np.sqrt(len(table.sizes) / (2 * rho / 3))
    for one in table.singles():
        table.measure(known, one, error)
    pools = [Pooled(known[one].table, error) for one in table.singles()]
    codes = np.column_stack([pool.to[of] for pool, of in zip(pools, table.codes.T, strict=True)])
    table = Table(codes, [len(pool.noisy) for pool in pools], table.rng)
    known = {(place,): Measured(pool.noisy, error**-2) for place, pool in enumerate(pools)}
    pairs = tree(table, estimate(table.sizes, known, total, last=True), rho / 3)
    for pair in pairs:
        table.measure(known, pair, np.sqrt(len(pairs) / (2 * rho / 3)))
    model = estimate(table.sizes, known, total, last=True)
    made = model.rows(len(codes), table.rng)
    return np.column_stack([p.back(of, table.rng) for p, of in zip(pools, made.T, strict=True)])


def tree(table: Table, model: TablesModel, rho: float) -> list[Columns]:
    """Return the pairs of a spanning tree, picked by how far they are from the model."""
    said, d = model.pairs(), len(table.sizes)
    gaps = {
        pair: float(np.abs(table.exact(pair) - said[pair]).sum())
        for pair in combinations(range(d), 2)
    }
    part, chosen = list(range(d)), []
    epsilon = np.sqrt(8 * rho / max(d - 1, 1))
    for _ in range(d - 1):
        left = [pair for pair in gaps if part[pair[0]] != part[pair[1]]]
        scores = np.array([gaps[pair] for pair in left]) * epsilon / 2
        picked = left[int(np.argmax(scores + table.rng.gumbel(size=len(left))))]
        chosen.append(picked)
        old, new = part[picked[1]], part[picked[0]]
        part = [new if label == old else label for label in part]
    return chosen


def aim(table: Table, rho: float, estimate: Estimate) -> np.ndarray:
    """Return synthetic rows."""
    model, _ = adaptive(table, rho, estimate)
    return model.rows(len(table.codes), table.rng)


def adaptive(table: Table, rho: float, estimate: Estimate) -> tuple[TablesModel, Known]:
    """Return the model of AIM, and the noisy tables that it is made of."""
    sizes, total, known = table.sizes, float(len(table.codes)), {}
    part = rho / (ROUNDS * len(sizes))
    left = rho - 0.9 * part * len(sizes)
    for one in table.singles():
        table.measure(known, one, 1 / np.sqrt(2 * 0.9 * part))
    offered = candidates(table)
    model = estimate(sizes, known, total)
    while left > 1e-9 * rho:
        part = left if left < 2 * part else part
        left -= part
        most = MEGABYTES * 2**20 / 8 * (rho - left) / rho
        said = model.pairs()
        picked = worst(affordable(offered, known, sizes, most), said, part, table.rng)
        error = 1 / np.sqrt(2 * 0.9 * part)
        table.measure(known, picked, error)
        model = estimate(sizes, known, total, model)
        moved = np.abs(model.tables[picked] - said[picked])
        if moved.sum() <= np.sqrt(2 / np.pi) * error * moved.size:
            part *= 4  # so little was learned that noise must halve
    return estimate(sizes, known, total, model, last=True), known


class Candidate(NamedTuple):
    """A table that may be asked about: exact, and how much of the workload it tells."""

    table: np.ndarray
    weight: int


def candidates(table: Table) -> dict[Columns, Candidate]:
    """Return single columns and pairs."""
    sizes = table.sizes
    pairs = [
        p
        for p in combinations(range(len(sizes)), 2)
        if np.prod([sizes[c] for c in p]) <= MOST_CELLS
    ]
    return {
        one: Candidate(table.exact(one), sum(len({*one} & {*pair}) for pair in pairs))
        for one in [*table.singles(), *pairs]
    }


def affordable(
    offered: dict[Columns, Candidate], known: Known, sizes: list[int], most: float
) -> dict[Columns, Candidate]:
    """Return what can be added to a model without making it larger than allowed."""
    cliques = JunctionTree(sizes, known).cliques
    return {
        one: what
        for one, what in offered.items()
        if any({*one} <= {*clique} for clique in cliques) or tree_size(sizes, [*known, one]) <= most
    }


def worst(
    offered: dict[Columns, Candidate],
    said: dict[Columns, np.ndarray],
    part: float,
    rng: np.random.Generator,
) -> Columns:
    """Return the table that the model explains worst, by the exponential mechanism."""
    noise = np.sqrt(2 / np.pi) / np.sqrt(2 * 0.9 * part)
    gaps = [
        what.weight * (np.abs(what.table - said[one]).sum() - noise * what.table.size)
        for one, what in offered.items()
    ]
    most = max(what.weight for what in offered.values())
    scores = np.array(gaps) * np.sqrt(8 * 0.1 * part) / (2 * most)
    return [*offered][int(np.argmax(scores + rng.gumbel(size=len(scores))))]


def main() -> None:
    """Make rows once."""
    which, whose, codes, sizes, rho, seed, made = sys.argv[1:]
    frame = pd.read_csv(codes)
    module, name = ESTIMATES[whose]
    estimate = getattr(importlib.import_module(module), name)
    start = time.process_time()
    table = Table(frame.to_numpy(), json.loads(sizes), np.random.default_rng(int(seed)))
    found = {"mst": mst, "aim": aim}[which](table, float(rho), estimate)
    print(time.process_time() - start)
    pd.DataFrame(found, columns=frame.columns).to_csv(made, index=False)


if __name__ == "__main__":
    main()
