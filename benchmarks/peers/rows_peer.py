"""Synthetic rows of MST or AIM from a file of codes; run by an interpreter with mbi.

Usage: ``python rows_peer.py mst|aim codes.csv SIZES RHO SEED made.csv``, SIZES as a JSON list.
Writes as many rows of codes as it was given and prints the CPU seconds that it took.

MST is the mechanism of McKenna, Miklau and Sheldon (2021), in our own words: a third of ρ each for
single columns, for a tree of pairs by the exponential mechanism, and for the tables of these pairs;
values that do not stand out from the noise are pooled. AIM is that of McKenna, Mullins, Sheldon and
Miklau (2022), in our own words too: single columns first, then one table after another, each the
one that the model explains worst, with less noise whenever little is learned; rare values are
pooled, as its authors advise. The models are estimated by ``mbi``, as in the authors' code.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from mbi import Dataset, Domain, LinearMeasurement, estimation
from mbi.junction_tree import hypothetical_model_size

warnings.simplefilter("ignore")

ITERATIONS = 1000, 2500  # to choose the tree, and at the end
POOLED = 3.0  # errors
# Of AIM: rounds for each column, tables that are too large, and the size of the model. The authors
# allow 80 megabytes, with which a run takes hours.
ROUNDS, MOST_CELLS, MEGABYTES = 16, 10_000, 4.0
# In mbi 1.1.0 rows that are drawn by "round", the usual way, rise together in all columns that hang
# on the same column, so that pairs beside the tree are far off.
DRAWN = "sample"


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
            found[shared] = rng.choice(self.rare, int(shared.sum()))
        return found


def measured(data: Dataset, cliques: list, rho: float, rng: np.random.Generator) -> list:
    """Return noisy tables of some sets of columns, for ρ all together."""
    error = np.sqrt(len(cliques) / (2 * rho))
    exact = [np.asarray(data.project(clique).datavector()) for clique in cliques]
    noisy = [table + rng.normal(0, error, table.shape) for table in exact]
    return [LinearMeasurement(t, c, error) for t, c in zip(noisy, cliques, strict=True)]


def tree(data: Dataset, model: object, rho: float, rng: np.random.Generator) -> list:
    """Return the pairs of a spanning tree, picked by how far they are from the model."""
    names = list(data.domain.attrs)
    gaps = {}
    for pair in combinations(names, 2):
        found, said = (np.asarray(x.project(pair).datavector()) for x in (data, model))
        gaps[pair] = float(np.abs(found - said).sum())
    part, chosen = {name: name for name in names}, []
    epsilon = np.sqrt(8 * rho / (len(names) - 1))
    for _ in range(len(names) - 1):
        left = [pair for pair in gaps if part[pair[0]] != part[pair[1]]]
        scores = np.array([gaps[pair] for pair in left]) * epsilon / 2
        picked = left[int(np.argmax(scores + rng.gumbel(size=len(left))))]
        chosen.append(picked)
        old, new = part[picked[1]], part[picked[0]]
        part = {name: new if label == old else label for name, label in part.items()}
    return chosen


def mst(frame: pd.DataFrame, sizes: list[int], rho: float, seed: int) -> pd.DataFrame:
    """Return synthetic rows."""
    rng, total = np.random.default_rng(seed), float(len(frame))
    data, known, pools = pooled(frame, sizes, rho / 3, rng)
    about = estimation.mirror_descent(data.domain, known, known_total=total, iters=ITERATIONS[0])
    pairs = tree(data, about, rho / 3, rng)
    known += measured(data, pairs, rho / 3, rng)
    model = estimation.mirror_descent(data.domain, known, known_total=total, iters=ITERATIONS[1])
    return rows_of(model, pools, len(frame), rng)


def pooled(
    frame: pd.DataFrame, sizes: list[int], rho: float, rng: np.random.Generator
) -> tuple[Dataset, list, dict[str, Pooled]]:
    """Return rows whose rare values are pooled, and noisy counts of single columns, for ρ."""
    names = list(frame.columns)
    data = Dataset(frame, Domain(names, sizes))
    first = measured(data, [(name,) for name in names], rho, rng)
    pools = {
        name: Pooled(np.asarray(one.noisy_measurement), one.stddev)
        for name, one in zip(names, first, strict=True)
    }
    coded = pd.DataFrame({name: pool.to[frame[name]] for name, pool in pools.items()})
    domain = Domain(names, [len(pool.noisy) for pool in pools.values()])
    known = [LinearMeasurement(pools[n].noisy, (n,), first[0].stddev) for n in names]
    return Dataset(coded, domain), known, pools


def rows_of(
    model: object, pools: dict[str, Pooled], n_rows: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return rows drawn from a model, with values as they were."""
    made = codes_of(model.synthetic_data(rows=n_rows, method=DRAWN), list(pools))
    return pd.DataFrame({name: pool.back(made[name], rng) for name, pool in pools.items()})


def aim(frame: pd.DataFrame, sizes: list[int], rho: float, seed: int) -> pd.DataFrame:
    """Return synthetic rows."""
    rng, total = np.random.default_rng(seed), float(len(frame))
    names = list(frame.columns)
    part = rho / (ROUNDS * len(names))
    data, known, pools = pooled(frame, sizes, 0.9 * part * len(names), rng)
    left = rho - 0.9 * part * len(names)
    offered = candidates(data)
    model = estimated(data, known, None, total)
    while left > 1e-9 * rho:
        part = left if left < 2 * part else part
        left -= part
        most = MEGABYTES * (rho - left) / rho
        picked = worst(data, model, affordable(offered, model, most), part, rng)
        before = datavector(model, picked)
        known += measured(data, [picked], 0.9 * part, rng)
        model = estimated(data, known, model, total)
        moved = np.abs(datavector(model, picked) - before).sum()
        if moved <= np.sqrt(2 / np.pi) * known[-1].stddev * before.size:
            part *= 4  # so little was learned that noise must halve
    return rows_of(model, pools, len(frame), rng)


def candidates(data: Dataset) -> dict[tuple[str, ...], int]:
    """Return columns and pairs that may be asked about, and how much of the workload each tells."""
    names = list(data.domain.attrs)
    pairs = [p for p in combinations(names, 2) if data.domain.size(p) <= MOST_CELLS]
    every = [*((name,) for name in names), *pairs]
    return {one: sum(len({*one} & {*pair}) for pair in pairs) for one in every}


def affordable(offered: dict, model: object, most: float) -> dict:
    """Return what can be added to a model without making it larger than allowed."""
    cliques = list(model.cliques)
    free = {tuple(sorted(part)) for c in cliques for r in (1, 2) for part in combinations(c, r)}
    return {
        one: weight
        for one, weight in offered.items()
        if tuple(sorted(one)) in free
        or hypothetical_model_size(model.domain, [*cliques, one]) <= most
    }


def worst(
    data: Dataset, model: object, offered: dict, part: float, rng: np.random.Generator
) -> tuple[str, ...]:
    """Return the table that the model explains worst, by the exponential mechanism."""
    noise, picked = np.sqrt(2 / np.pi) / np.sqrt(2 * 0.9 * part), list(offered)
    gaps = []
    for one in picked:
        found, said = datavector(data, one), datavector(model, one)
        gaps.append(offered[one] * (np.abs(found - said).sum() - noise * found.size))
    scores = np.array(gaps) * np.sqrt(8 * 0.1 * part) / (2 * max(offered.values()))
    return picked[int(np.argmax(scores + rng.gumbel(size=len(picked))))]


def estimated(data: Dataset, known: list, before: object | None, total: float) -> object:
    """Return a model of all noisy tables, beginning from the one before."""
    start = None
    if before is not None:
        start = before.potentials.expand(list({one.clique for one in known}))
    return estimation.mirror_descent(
        data.domain, known, known_total=total, potentials=start, iters=ITERATIONS[0]
    )


def datavector(of: object, clique: tuple[str, ...]) -> np.ndarray:
    """Return a table as one row of numbers."""
    return np.asarray(of.project(clique).datavector())


def codes_of(made: object, names: list[str]) -> dict[str, np.ndarray]:
    """Return the columns of a data set of mbi."""
    return {name: np.asarray(made.df[name]).astype(int) for name in names}


def main() -> None:
    """Make rows once."""
    which, codes, sizes, rho, seed, made = sys.argv[1:]
    frame = pd.read_csv(codes)
    start = time.process_time()
    found = {"mst": mst, "aim": aim}[which](frame, json.loads(sizes), float(rho), int(seed))
    print(time.process_time() - start)
    found.to_csv(made, index=False)


if __name__ == "__main__":
    main()
