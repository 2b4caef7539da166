"""KMeans of diffprivlib 0.6.6: how it divides its budget between sizes and sums.

Each step has a share of ε for the size of a cluster and one for each coordinate of its sum. The two
are exchanged where they are used, so that with five columns and more the shares add up to more than
the budget: in 64 columns to more than twice of it.
"""

import numpy as np

from privclust.audit import replay

CLAIMED = 1
PAIR = "50 rows at 0, and one more at the far corner"
STEPS = 2


def noisy_steps(rows, rng):
    """Return the noisy size and sum of one cluster, in every step, with the shares as used."""
    columns = rows.shape[1]
    for_sums = np.cbrt(4 * columns * 0.225**2)
    whole = CLAIMED / STEPS / (columns + for_sums)
    answers = []
    for _ in range(STEPS):
        size = len(rows) + rng.laplace(scale=1 / whole)
        total = rows.sum(axis=0) + rng.laplace(scale=1 / (for_sums * whole), size=columns)
        answers.append((size, total))
    return answers


def find():
    """Return what the replay of a pair finds."""
    rows = np.zeros((50, 64))
    return replay(noisy_steps, rows, np.vstack([rows, np.ones(64)]), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
