"""Noise, side by side in one run: our samplers, OpenDP's, and NumPy's float noise (not private).

Run with ``python benchmarks/noise.py``; CPU seconds, the best of several repeats. NumPy stands for
what a user would write without a library: it is fast, and its low bits leak.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from privclust.privacy.noise import ExactNoise
from privclust.privacy.noise.opendp import OpenDPNoise

DRAWS = 10**6
ROWS, CANDIDATES = 10**5, 8
SCALE = Fraction(10)
REPEATS = 5


def main() -> None:
    """Print the table of the README."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    ours, theirs, numpy = ExactNoise(), OpenDPNoise(), np.random.default_rng()
    scores = numpy.integers(0, 50, (ROWS, CANDIDATES))
    scale = float(SCALE)
    tasks: dict[str, tuple[Callable[[], object], Callable[[], object], Callable[[], object]]] = {
        "10^6 discrete Laplace": (
            lambda: ours.laplace(SCALE, DRAWS),
            lambda: theirs.laplace(SCALE, DRAWS),
            lambda: numpy.laplace(scale=scale, size=DRAWS),
        ),
        "10^6 discrete Gaussian": (
            lambda: ours.gaussian(SCALE**2, DRAWS),
            lambda: theirs.gaussian(SCALE**2, DRAWS),
            lambda: numpy.normal(scale=scale, size=DRAWS),
        ),
        "10^5 x 8 exponential mechanism": (
            lambda: ours.exponential_rows(scores, SCALE),
            lambda: theirs.exponential_rows(scores, SCALE),
            lambda: (scores + numpy.gumbel(scale=scale, size=scores.shape)).argmax(axis=1),
        ),
        "10^5 x 8 permute-and-flip": (
            lambda: ours.permute_and_flip_rows(scores, SCALE),
            lambda: theirs.permute_and_flip_rows(scores, SCALE),
            lambda: (scores + numpy.exponential(scale, size=scores.shape)).argmax(axis=1),
        ),
        "10^5 x 8 noisy top 3": (
            lambda: ours.top_k_rows(scores, SCALE, 3),
            lambda: theirs.top_k_rows(scores, SCALE, 3),
            lambda: np.argsort(-(scores + numpy.gumbel(scale=scale, size=scores.shape)))[:, :3],
        ),
    }
    print("| task | privclust | OpenDP | NumPy floats (not private) | OpenDP / privclust |")
    print("|---|---|---|---|---|")
    for name, (our_draw, their_draw, numpy_draw) in tasks.items():
        our_time, numpy_time = seconds(our_draw, REPEATS), seconds(numpy_draw, REPEATS)
        their_time = seconds(their_draw, 1)
        print(
            f"| {name} | {1000 * our_time:.0f} ms | {1000 * their_time:.0f} ms "
            f"| {1000 * numpy_time:.0f} ms | {their_time / our_time:.0f}x |"
        )


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
