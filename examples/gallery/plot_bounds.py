"""
Bounds that are too wide
========================

Noise is scaled to the declared bounds. Bounds ten times too wide cost accuracy; bounds that are
too narrow clip rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateKMeans

rng = np.random.default_rng(10)
centres = np.array([[2, 2], [5, 8], [8, 3]])
rows = np.clip(centres[rng.integers(0, 3, 2_000)] + rng.normal(0, 0.5, (2_000, 2)), 0, 10)

# %%
# The rows lie between 0 and 10.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, sharey=True)
for panel, high in zip(panels, (6, 10, 100), strict=True):
    model = PrivateKMeans(3, epsilon=0.5, bounds=(0, high)).fit(rows)
    panel.scatter(*rows.T, s=1, alpha=0.3)
    panel.scatter(*model.cluster_centers_.T, marker="x", color="black")
    panel.set_title(f"bounds 0 to {high}")
plt.show()
