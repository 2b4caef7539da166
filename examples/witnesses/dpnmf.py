"""DPNMF (2024), the authors' notebook: a factorisation from noisy second moments.

Fresh normal noise is drawn in each of 3000 steps, for the ε and δ of the whole in each of them, and
what they tell together is not counted.
"""

import math

import numpy as np

from privclust import Budget
from privclust.audit import replay

CLAIMED = Budget("0.999", 1e-5)
PAIR = "20 rows of length 1, and one more"
STEPS = 3000


def noisy_moments(rows, rng):
    """Return the last of the noisy second moments, all of which were used before it."""
    scale = math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.999
    moments = rows.T @ rows
    for _ in range(STEPS):
        noisy = moments + rng.normal(scale=scale, size=moments.shape)
    return noisy


def find():
    """Return what the replay of a pair finds."""
    rows = np.tile([1.0, 0.0], (20, 1))
    return replay(noisy_moments, rows, np.vstack([rows, [0.0, 1.0]]), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
