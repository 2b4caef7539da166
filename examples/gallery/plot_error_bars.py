"""
Reading error bars
==================

A released size comes with the standard error of its noise. The same table is fitted many times
here, which only made-up rows allow, to show what the error promises.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateKMeans

rng = np.random.default_rng(11)
true = np.array([400, 120, 30])
places = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.85]])
rows = np.concatenate(
    [rng.normal(place, 0.03, (size, 2)) for place, size in zip(places, true, strict=True)]
).clip(0, 1)

# %%
# Fifteen releases of the same rows. Each is a dot with two errors on either side.
figure, axes = plt.subplots(figsize=(7, 4))
for run in range(15):
    model = PrivateKMeans(3, epsilon=1.0, delta=1e-6, bounds=(0, 1), random_state=run).fit(rows)
    sizes, errors = model.cluster_sizes_, model.cluster_sizes_error_
    nearest = ((model.cluster_centers_[:, None] - places) ** 2).sum(axis=2).argmin(axis=1)
    axes.errorbar(nearest + (run - 7) / 25, sizes, 2 * errors, fmt="o", markersize=3, color="C0")
for at, size in enumerate(true):
    axes.hlines(size, at - 0.4, at + 0.4, color="black", zorder=3)
axes.set(
    xticks=range(3), xticklabels=[f"{size} rows in truth" for size in true], ylabel="released size"
)
plt.show()

# %%
# About nineteen of twenty bars reach the line. The error is the same for every cluster, so it
# matters most for the smallest: of thirty rows it leaves little to say.
