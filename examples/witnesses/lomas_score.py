"""lomas-server 0.4.1: models of diffprivlib, fitted for analysts who do not see the rows.

The rows are split in two. A model is fitted to one part with noise, and the answer has its score on
the other part, exact and free of charge. So a row of that part is told by a model that is right
about it on one side of the pair alone, whatever ε is.
"""

import numpy as np

from privclust.audit import replay

CLAIMED = 1
PAIR = "40 rows, one of the ten held out replaced"


def model_and_score(rows, rng):
    """Return a threshold from the rows to learn from, and how often it is right about the rest."""
    learned, held_out = rows[:30], rows[30:]
    threshold = (learned[:, 0].sum() + rng.laplace(scale=1)) / len(learned)
    score = ((held_out[:, 0] > threshold) == held_out[:, 1]).mean()
    return threshold, score


def find():
    """Return what the replay of a pair finds."""
    rows = np.column_stack([np.tile([0.1, 0.9], 20), np.tile([0, 1], 20)])
    neighbour = rows.copy()
    neighbour[-1, 1] = 0
    return replay(model_and_score, rows, neighbour, CLAIMED, noise="numpy", unit="replace-row")


if __name__ == "__main__":
    print(find())
