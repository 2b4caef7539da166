"""KMeans-Guarantee (2020) and SubCluster-Guarantee (2022), from the text of the papers.

The zone in which the next centre is drawn has the exact mean of a cluster as its middle and an
exact distance as its radius. So one row decides which rows can be drawn at all, how many draws
there are, and, by the exact size of the cluster, how large the last noise is.
"""

import warnings

import numpy as np

from privclust.audit import replay
from privclust.papers.zones import SubclusterGuarantee

CLAIMED = 1
PAIR = "100 rows at -1 and 100 at 1, and one more at 0.5"


def one_centre(rows, rng):
    """Return the centre that is published."""
    warnings.simplefilter("ignore")
    seed = int(rng.integers(2**31))
    return SubclusterGuarantee(1, epsilon=CLAIMED, random_state=seed).fit(rows).cluster_centers_


def find():
    """Return what the replay of a pair finds."""
    rows = np.repeat([[-1.0], [1.0]], 100, axis=0)
    return replay(one_centre, rows, np.vstack([rows, [[0.5]]]), CLAIMED, noise="numpy")


if __name__ == "__main__":
    print(find())
