"""PE-means, high-dimensional variant (arXiv 2606.00342, public code of July 2026).

Rows are clustered in few dimensions, and the centres lifted back: the noisy sum of the rows of each
cluster, divided by its noisy size. For the sums, one normal number is drawn and added to all
coordinates, and a cluster without rows is left out. Differences of coordinates are exact.
"""

import numpy as np

from privclust import Budget
from privclust.audit import replay

CLAIMED = Budget(0.1, 1e-6)
PAIR = "400 equal rows, one of them replaced"


def lift_centres(rows, rng):
    """Return the centres in all dimensions, of rows in the unit ball and one cluster for short."""
    noise_multiplier = 100.0
    total = rows.sum(axis=0) + rng.normal() * noise_multiplier
    size = len(rows) + rng.normal() * noise_multiplier
    return total / size


def find():
    """Return what the replay of a pair finds."""
    rows = np.zeros((400, 64))
    rows[:, 0] = 0.5
    neighbour = rows.copy()
    neighbour[-1, 0], neighbour[-1, 1] = 0, 0.5
    return replay(lift_centres, rows, neighbour, CLAIMED, noise="numpy", unit="replace-row")


if __name__ == "__main__":
    print(find())
