"""
How much does a small ε cost?
=============================

The same table is fitted at several budgets, on made-up rows. With real ones you would ask
:meth:`plan` instead: every fit is charged, and trying budgets on private rows leaks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from privclust import PrivateKMeans

rng = np.random.default_rng(0)
centres = rng.uniform(0.15, 0.85, (5, 4))
rows = np.clip(centres[rng.integers(0, 5, 4_000)] + rng.normal(0, 0.05, (4_000, 4)), 0, 1)
best = KMeans(5, n_init=10, random_state=0).fit(rows).inertia_


def inertia(model):
    distances = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    return distances.min(axis=1).sum()


# %%
# Five fits for each budget, with and without a small δ.
epsilons = [0.1, 0.2, 0.5, 1.0, 2.0]
figure, axes = plt.subplots()
for delta in (0.0, 1e-6):
    ratios = [
        np.mean(
            [
                inertia(PrivateKMeans(5, epsilon=epsilon, delta=delta, bounds=(0, 1)).fit(rows))
                / best
                for _ in range(5)
            ]
        )
        for epsilon in epsilons
    ]
    axes.plot(epsilons, ratios, marker="o", label=f"δ = {delta:g}")
axes.axhline(1, color="grey", linestyle="--", label="k-means without privacy")
axes.set(xscale="log", xlabel="ε", ylabel="inertia / best inertia")
axes.legend()
plt.show()
