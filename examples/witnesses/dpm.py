"""DPM (2024), public code: clustering by cuts across the axes.

The final sets have noisy means, but a set without rows gets the centre 0 exactly, with no noise. A
set is cut as long as its noisy size allows, so that a set with hardly a row can be final.
"""

import numpy as np

from privclust import Budget
from privclust.audit import replay

CLAIMED = Budget(1, 1e-6)
PAIR = "50 rows on one side of the cut, and one more on the other"


def centres_of_sets(rows, rng):
    """Return the centres of the two sides of a cut, whose place was chosen before."""
    centres = []
    for side in (rows[rows < 0.5], rows[rows >= 0.5]):
        size = len(side) + rng.laplace(scale=4)
        if len(side) == 0:
            centres.append(0.0)
            continue
        centres.append((side.sum() + rng.normal(scale=8)) / size)
    return centres


def find():
    """Return what the replay of a pair finds."""
    rows = np.full(50, 0.1)
    return replay(centres_of_sets, rows, np.append(rows, 0.9), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
