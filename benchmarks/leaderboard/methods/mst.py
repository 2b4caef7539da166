"""MST, then k-means: synthetic rows of MST (2021) in an environment of its own (``make peers``)."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from privclust.budget import Budget
from privclust.papers.datasets.points import PointSet

BENCHMARKS = Path(__file__).parents[2]
PYTHON = BENCHMARKS.parent / ".venv-rows" / "bin" / "python"
BINS = 64
MOST_COLUMNS = 10


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return centres of the synthetic rows, of numbers that are cut into bins."""
    d = data.points.shape[1]
    if not PYTHON.exists():
        raise NotImplementedError("`make peers` was not run")
    if d > MOST_COLUMNS:
        raise NotImplementedError("it takes hours with so many columns")
    low, high = data.schema.low, data.schema.high
    codes = np.clip(((data.points - low) / (high - low) * BINS).astype(int), 0, BINS - 1)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "codes.csv", Path(folder) / "made.csv"
        names = ",".join(f"c{place}" for place in range(d))
        np.savetxt(given, codes, "%d", ",", header=names, comments="")
        script = BENCHMARKS / "peers" / "rows_peer.py"
        words = json.dumps([BINS] * d), float(Budget(epsilon, delta).amount), seed
        command = [PYTHON, script, "mst", given, *words, made]
        subprocess.run([str(word) for word in command], capture_output=True, check=True)  # noqa: S603
        drawn = np.loadtxt(made, delimiter=",", skiprows=1)
    inside = np.random.default_rng(seed).random(drawn.shape)
    rows = low + (drawn + inside) / BINS * (high - low)
    return KMeans(data.n_clusters, n_init=3, random_state=seed).fit(rows).cluster_centers_
