"""Noise, side by side in one run: our samplers, OpenDP's, and NumPy's float noise (not private).

Run with ``python benchmarks/noise.py``; CPU seconds, the best of several repeats, kept in
``noise.csv``, from which the table of ``docs/research/accuracy.md`` is filled. NumPy stands for
what a user would write without a library: it is fast, and its low bits leak.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np

from keeping import markdown, put_table, read_rows, run_line, write_rows
from privclust.opendp import OpenDPNoise
from privclust.privacy.noise.exact import ExactNoise

DRAWS = 10**5
ROWS, CANDIDATES = 10**4, 8
SCALE = Fraction(10)
REPEATS = 5
PAGE = Path(__file__).parents[1] / "docs" / "research" / "accuracy.md"

Draw = Callable[[], object]


def main() -> None:
    """Measure, keep, and fill the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows = []
    for name, (ours, theirs, floats) in tasks().items():
        taken = seconds(ours, REPEATS), seconds(theirs, 1), seconds(floats, REPEATS)
        keys = ("privclust", "opendp", "numpy")
        rows.append({"task": name, **dict(zip(keys, (f"{t:.3g}" for t in taken), strict=True))})
        print(*rows[-1].values(), flush=True)
        rows[-1]["opendp_version"] = version("opendp")
    write_rows("noise", rows, seed=0, setting=f"{REPEATS} repeats")
    put_table(PAGE, "noise", table(read_rows("noise")))


def tasks() -> dict[str, tuple[Draw, Draw, Draw]]:
    """Return, for each task, our draw, OpenDP's and NumPy's."""
    ours, theirs, numpy = ExactNoise(), OpenDPNoise(), np.random.default_rng()
    scores = numpy.integers(0, 50, (ROWS, CANDIDATES))
    scale = float(SCALE)
    return {
        f"{DRAWS} discrete Laplace": (
            lambda: ours.laplace(SCALE, DRAWS),
            lambda: theirs.laplace(SCALE, DRAWS),
            lambda: numpy.laplace(scale=scale, size=DRAWS),
        ),
        f"{DRAWS} discrete Gaussian": (
            lambda: ours.gaussian(SCALE**2, DRAWS),
            lambda: theirs.gaussian(SCALE**2, DRAWS),
            lambda: numpy.normal(scale=scale, size=DRAWS),
        ),
        f"{ROWS} x {CANDIDATES} exponential mechanism": (
            lambda: ours.exponential_rows(scores, SCALE),
            lambda: theirs.exponential_rows(scores, SCALE),
            lambda: (scores + numpy.gumbel(scale=scale, size=scores.shape)).argmax(axis=1),
        ),
        f"{ROWS} x {CANDIDATES} permute-and-flip": (
            lambda: ours.permute_and_flip_rows(scores, SCALE),
            lambda: theirs.permute_and_flip_rows(scores, SCALE),
            lambda: (scores + numpy.exponential(scale, size=scores.shape)).argmax(axis=1),
        ),
        f"{ROWS} x {CANDIDATES} noisy top 3": (
            lambda: ours.top_k_rows(scores, SCALE, 3),
            lambda: theirs.top_k_rows(scores, SCALE, 3),
            lambda: np.argsort(-(scores + numpy.gumbel(scale=scale, size=scores.shape)))[:, :3],
        ),
    }


def table(rows: list[dict[str, str]]) -> str:
    """Return the milliseconds of each task."""
    lines = []
    for row in rows:
        ours, theirs, floats = (float(row[key]) for key in ("privclust", "opendp", "numpy"))
        lines.append([row["task"], *(f"{1000 * taken:.1f} ms" for taken in (ours, theirs, floats))])
        lines[-1].append(f"{theirs / max(ours, 1e-9):.0f}x")
    opendp = f"OpenDP {rows[0]['opendp_version']}"
    heads = ["task", "privclust", opendp, "NumPy floats (not private)", "OpenDP / privclust"]
    return f"{markdown(heads, lines)}\n\n{run_line(rows, 'noise')}"


def seconds(draw: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of one call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        draw()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
