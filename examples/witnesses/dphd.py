"""DPHD (2017), public code: k-means in high dimensions, the step that lifts centres back.

The mean of a cluster is taken with its exact size, and the scale of its noise is divided by that
same size: the noise itself tells how many rows there are. An empty cluster is drawn at random.
"""

import numpy as np

from privclust.audit import replay

CLAIMED = 1
PAIR = "50 rows, and one more"


def recover_centre(rows, rng):
    """Return the centre of one cluster, of rows within the range."""
    reach, columns = 1.0, rows.shape[1]
    return rows.mean(axis=0) + rng.laplace(scale=reach / (CLAIMED * len(rows)), size=columns)


def find():
    """Return what the replay of a pair finds."""
    rows = np.zeros((50, 8))
    return replay(recover_centre, rows, np.vstack([rows, np.ones(8)]), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
