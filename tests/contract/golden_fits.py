"""Seeded fits of every private estimator, whose released arrays are kept as golden digests.

``python -m contract.golden_fits``, in the folder of the tests, writes ``golden.json`` beside this
file. The digests there were made before the four families were folded into one way of fitting;
write them anew only where a change of released values is meant, and say so in the commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy._core import _multiarray_umath as numpy_core

from privclust import (
    AddRemoveRow,
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    Person,
    PrivateBounds,
    PrivateCoclustering,
    PrivateKMeans,
    PrivateSummary,
    ReplaceRow,
)
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans
from privclust.papers.rivals.nmf import PrivateNMF
from privclust.papers.rivals.one_hot import PrivateOneHotKMeans
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.zones.private import PrivateZoneKMeans
from support.datasets import PLACES, POINTS, SURVEY, baskets, places, points, survey
from support.variants import categorical_kmeans, dilca, medoids

FILE = Path(__file__).with_name("golden.json")
ROW_UNITS = {"add": AddRemoveRow(), "replace": ReplaceRow(), "person": Person("who", 2)}
CURRENCIES = {"pure": 0, "zcdp": 1e-6}


def fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every fit under its name."""
    for unit_name, unit in ROW_UNITS.items():
        for currency, delta in CURRENCIES.items():
            common = {"epsilon": 2.0, "delta": delta, "unit": unit, "random_state": 7}
            for name, fit in _row_fits(unit_name, common):
                yield f"{name}, {unit_name}, {currency}", fit
    for currency, delta in CURRENCIES.items():
        common = {"epsilon": 2.0, "delta": delta, "random_state": 7}
        for unit in (MatrixCount(), MatrixEntry(2), MatrixRow()):
            for rule in ("prototypes", "tau"):
                if isinstance(unit, MatrixRow) and (rule == "tau" or delta == 0):
                    continue  # neither is offered
                model = PrivateCoclustering(3, 3, unit=unit, rule=rule, **common)
                yield f"coclustering {rule}, {unit.name}, {currency}", _of(model, baskets)
            if not isinstance(unit, MatrixRow):
                model = PrivateTauCoclustering(3, 3, unit=unit, **common)
                yield f"tau, {unit.name}, {currency}", _of(model, baskets)


def _row_fits(unit: str, common: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    rows = _without_who(points, unit)
    for method in ("cells", "lloyd", "cautious", "grid"):
        model = PrivateKMeans(4, method=method, schema=POINTS, rescale=False, **common)
        yield f"kmeans {method}", _of(model, rows)
    summary = PrivateSummary(schema=POINTS, rescale=False, **common)
    yield "summary", _of(summary, rows)
    if unit == "add":
        wide = PrivateSummary(bounds=(-1, 1), **common)
        yield "summary of many columns", _of(wide, lambda: _clumps(4000, 16))
        many = PrivateKMeans(5, bounds=(-1, 1), **common)
        yield "kmeans of many columns", _of(many, lambda: _clumps(4000, 16))
        few = PrivateKMeans(5, bounds=(-1, 1), method="cells", **common)
        yield "kmeans cells of two columns", _of(few, lambda: _clumps(20_000, 2))
        for model in (
            PrivateHighDimKMeans(4, n_swaps=3, schema=POINTS, **common),
            PrivateNMF(4, n_steps=3, schema=POINTS, **common),
        ):
            yield f"baseline {type(model).__name__}", _of(model, rows)
    yield "zones", _of(PrivateZoneKMeans(4, schema=POINTS, rescale=False, **common), rows)
    yield "bounds", _of(PrivateBounds(columns=["x", "y", "z"], **common), rows)
    answers = _without_who(survey, unit)
    for method in ("pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"):
        model = dilca(method=method, schema=SURVEY, **common)
        yield f"dilca {method}", _of(model, answers)
    model = PrivateKMeans(3, metric="dilca", schema=SURVEY, **common)
    yield "kmeans of categories", _of(model, answers)
    if unit == "add":
        model = categorical_kmeans(3, method="max-relevance", schema=SURVEY, **common)
        yield "categorical kmeans max-relevance", _of(model, answers)
    if unit == "add":
        one_hot = PrivateOneHotKMeans(3, schema=SURVEY, **common)
        yield "baseline PrivateOneHotKMeans", _of(one_hot, answers)
    for method in ("rings", "nna", "nas"):
        model = medoids(3, method=method, schema=PLACES, **common)
        yield f"source-target {method}", _of_sources(model, unit)


def _clumps(n_rows: int, n_columns: int) -> np.ndarray:
    """Return rows in five clumps."""
    rng = np.random.default_rng(3)
    centres = rng.uniform(-0.8, 0.8, (5, n_columns))
    return centres[rng.integers(5, size=n_rows)] + rng.normal(0, 0.05, (n_rows, n_columns))


def _without_who(made: Callable[[], pd.DataFrame], unit: str) -> Callable[[], pd.DataFrame]:
    return made if unit == "person" else lambda: made().drop(columns="who")


def _of(model: Any, made: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: model.fit(made())


def _of_sources(model: Any, unit: str) -> Callable[[], Any]:
    def fit() -> Any:
        target, source = places()
        return model.fit(target, source=source if unit == "person" else source.drop(columns="who"))

    return fit


def digest_of(model: Any) -> str:
    """Return a digest of the arrays that the model releases."""
    whole = hashlib.sha256()
    for name, array in sorted(model.release().arrays.items()):
        whole.update(f"{name} {array.shape} {array.dtype}".encode())
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:24]


def digests() -> dict[str, str]:
    """Return the digest of every fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: digest_of(fit()) for name, fit in fits()}


def digests_of_another_process(*folders: Path) -> dict[str, str]:
    """Return the digests of a process whose NumPy uses no AVX-512, and imports from the folders.

    The last bits of some functions depend on the instructions that NumPy chooses for a processor.
    """
    found = numpy_core.__cpu_features__
    newer = [f for f in numpy_core.__cpu_dispatch__ if f.startswith(("AVX512", "X86_V4"))]
    environment = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(feature for feature in newer if found.get(feature)),
        "PYTHONPATH": os.pathsep.join([*map(str, folders), str(Path(__file__).parents[1])]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "contract.golden_fits", "--print"],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    made: dict[str, str] = json.loads(done.stdout)
    return made


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(json.dumps(digests()))
    else:
        FILE.write_text(json.dumps(digests_of_another_process(), indent=1) + "\n")
