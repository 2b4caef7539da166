"""The model of an AIM run, estimated again by ``mbi``; run by an interpreter that has it.

Usage: ``python model_check.py codes.csv SIZES RHO SEED``. Prints a JSON record: the loss of
ours and of mbi's after so many steps (half of the squared errors in units of the noise), the mean
total variation between their tables of pairs, and the CPU seconds of each estimation from nothing.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import combinations

import mbi_model
import numpy as np
import pandas as pd
from rows_peer import Known, Table, adaptive
from tables_model import Columns, estimate


def loss(tables: dict[Columns, np.ndarray], known: Known) -> float:
    """Return half of the squared errors in units of the noise."""
    return sum(
        float(((tables[columns] - one.table) ** 2).sum() * one.precision / 2)
        for columns, one in known.items()
    )


def main() -> None:
    """Estimate both ways."""
    path, told, rho, seed = sys.argv[1:]
    codes, sizes = pd.read_csv(path).to_numpy(), json.loads(told)
    total = float(len(codes))
    ours, known = adaptive(
        Table(codes, sizes, np.random.default_rng(int(seed))), float(rho), estimate
    )
    marks = [time.process_time()]
    estimate(sizes, known, total, last=True)
    marks.append(time.process_time())
    theirs = mbi_model.estimate(sizes, known, total, last=True)
    marks.append(time.process_time())
    said, other = ours.pairs(), theirs.pairs()
    pairs = [*combinations(range(len(sizes)), 2)]
    apart = np.mean([np.abs(said[pair] - other[pair]).sum() / 2 / total for pair in pairs])
    found = {
        "tables": len(known),
        "loss": loss(said, known),
        "loss_mbi": loss(other, known),
        "apart": float(apart),
        "seconds": marks[1] - marks[0],
        "seconds_mbi": marks[2] - marks[1],
    }
    print(json.dumps({name: round(value, 5) for name, value in found.items()}))


if __name__ == "__main__":
    main()
