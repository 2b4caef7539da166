"""DP-WGAN (public code of 2019): noisy gradients of a critic.

The noise for every layer is drawn in the shape of the last parameter, which is a single number, and
added to all weights of the layer. Which weights a row changes is exact, whatever sigma is.
"""

import numpy as np

from privclust import Budget
from privclust.audit import replay

CLAIMED = Budget(1, 1e-5)
PAIR = "a batch of 32 rows, one of them replaced"


def noisy_gradient(batch, rng):
    """Return the gradient of a linear critic, averaged over the batch, as it is noised there."""
    sigma, weights = 1.0, np.linspace(-0.1, 0.1, batch.shape[1])
    slope = 1 / (1 + np.exp(-batch @ weights))
    gradient = (slope[:, None] * batch).mean(axis=0)
    return gradient + rng.normal(size=1) * sigma / len(batch)


def find():
    """Return what the replay of a pair finds."""
    batch = np.tile([1.0, 0.0, 0.0, 0.0], (32, 1))
    neighbour = batch.copy()
    neighbour[-1] = [0.0, 1.0, 0.0, 0.0]
    return replay(noisy_gradient, batch, neighbour, CLAIMED, noise="numpy", unit="replace-row")


if __name__ == "__main__":
    print(find())
