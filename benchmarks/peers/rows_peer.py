"""Synthetic rows of MST or AIM from a file of codes; run by an interpreter with mbi and snsynth.

Usage: ``python rows_peer.py mst|aim codes.csv SIZES EPSILON DELTA SEED made.csv``, SIZES as a JSON
list. Writes as many rows of codes as it was given and prints the CPU seconds that it took.

MST is the mechanism of McKenna, Miklau and Sheldon (2021), in our own words: a third of ρ each for
single columns, for a tree of pairs by the exponential mechanism, and for the tables of these pairs;
values that do not stand out from the noise are pooled. The model is estimated by ``mbi``, as in the
authors' code. AIM is that of smartnoise-synth.
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
from snsynth.utils import cdp_rho

warnings.simplefilter("ignore")

ITERATIONS = 1000, 2500  # to choose the tree, and at the end
POOLED = 3.0  # errors
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


def mst(
    frame: pd.DataFrame, sizes: list[int], epsilon: float, delta: float, seed: int
) -> pd.DataFrame:
    """Return synthetic rows."""
    rng, rho, total = np.random.default_rng(seed), cdp_rho(epsilon, delta), float(len(frame))
    names = list(frame.columns)
    singles = [(name,) for name in names]
    data = Dataset(frame, Domain(names, sizes))
    first = measured(data, singles, rho / 3, rng)
    pools = [Pooled(np.asarray(one.noisy_measurement), one.stddev) for one in first]
    coded = {name: pool.to[frame[name]] for name, pool in zip(names, pools, strict=True)}
    domain = Domain(names, [len(pool.noisy) for pool in pools])
    small = Dataset(pd.DataFrame(coded), domain)
    known = [
        LinearMeasurement(pool.noisy, clique, one.stddev)
        for pool, clique, one in zip(pools, singles, first, strict=True)
    ]
    about = estimation.mirror_descent(domain, known, known_total=total, iters=ITERATIONS[0])
    pairs = tree(small, about, rho / 3, rng)
    known += measured(small, pairs, rho / 3, rng)
    model = estimation.mirror_descent(domain, known, known_total=total, iters=ITERATIONS[1])
    made = codes_of(model.synthetic_data(rows=len(frame), method=DRAWN), names)
    return pd.DataFrame({n: pool.back(made[n], rng) for n, pool in zip(names, pools, strict=True)})


def aim(
    frame: pd.DataFrame, sizes: list[int], epsilon: float, delta: float, seed: int
) -> pd.DataFrame:
    """Return synthetic rows."""
    from snsynth.aim import AIMSynthesizer

    np.random.seed(seed)  # noqa: NPY002  # AIM draws from the global generator
    data = Dataset(frame, Domain(list(frame.columns), sizes))
    found = AIMSynthesizer(epsilon, delta)
    found.rho = cdp_rho(epsilon, delta)
    found.AIM(data, found.get_workload(data, degree=2, max_cells=10_000))
    made = codes_of(
        found.synthesizer.synthetic_data(rows=len(frame), method=DRAWN), list(frame.columns)
    )
    return pd.DataFrame(made)


def codes_of(made: object, names: list[str]) -> dict[str, np.ndarray]:
    """Return the columns of a data set of mbi."""
    return {name: np.asarray(made.df[name]).astype(int) for name in names}


def main() -> None:
    """Make rows once."""
    which, codes, sizes, epsilon, delta, seed, made = sys.argv[1:]
    frame = pd.read_csv(codes)
    start = time.process_time()
    found = {"mst": mst, "aim": aim}[which](
        frame, json.loads(sizes), float(epsilon), float(delta), int(seed)
    )
    print(time.process_time() - start)
    found.to_csv(made, index=False)


if __name__ == "__main__":
    main()
