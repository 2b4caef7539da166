"""KMeans of diffprivlib 0.6.6: noisy Lloyd steps after Su and others (2016).

A cluster without rows is passed over: no noise is drawn for it, and its centre stays where it was.
So a row that is alone in its cluster is told by the centre that moved. A centre that did not move
is known beforehand, since centres start from public random numbers.
"""

import numpy as np

from privclust.audit import replay

CLAIMED = 1
PAIR = "50 rows at one end, and one more at the other"


def two_centres(rows, rng):
    """Return two centres on the unit interval after one of the noisy steps."""
    centres = np.array([0.25, 0.75])
    labels = np.abs(rows[:, None] - centres).argmin(axis=1)
    for cluster in range(2):
        if cluster not in labels:
            continue
        size = (labels == cluster).sum() + rng.laplace(scale=2)
        total = rows[labels == cluster].sum() + rng.laplace(scale=2)
        centres[cluster] = np.clip(total / max(size, 1), 0, 1)
    return centres


def find():
    """Return what the replay of a pair finds."""
    rows = np.full(50, 0.1)
    return replay(two_centres, rows, np.append(rows, 0.9), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
