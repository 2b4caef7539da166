"""diffprivlib: IBM's ``KMeans``, in an environment of its own (``make peers``); pure ε."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from privclust.papers.datasets.points import PointSet

BENCHMARKS = Path(__file__).parents[2]
PYTHON = BENCHMARKS.parent / ".venv-peers" / "bin" / "python"


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    if not PYTHON.exists():
        raise NotImplementedError("`make peers` was not run")
    low, high = float(data.schema.low.min()), float(data.schema.high.max())
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, data.points)
        file.flush()
        script = BENCHMARKS / "peers" / "diffprivlib_kmeans.py"
        command = [PYTHON, script, file.name, data.n_clusters, epsilon, low, high, 1]
        answer = subprocess.run(  # noqa: S603
            [str(part) for part in command], capture_output=True, text=True, check=True
        )
    return np.array(json.loads(answer.stdout)[0][0])
