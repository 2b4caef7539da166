"""
Other algorithms on a summary
=============================

A summary is a small weighted table, so algorithms of scikit-learn work on it: here k-means and
Ward's tree. What comes out is as private as the summary.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from privclust import PrivateSummary

rng = np.random.default_rng(3)
centres = np.array([[0.2, 0.2], [0.3, 0.75], [0.75, 0.5]])
rows = np.clip(centres[rng.integers(0, 3, 6_000)] + rng.normal(0, 0.06, (6_000, 2)), 0, 1)
summary = PrivateSummary(epsilon=1.0, bounds=(0, 1)).fit(rows)

# %%
# Cells whose count is within the noise say nothing, so leave them out. Ward's tree takes no
# weights; it loses what the counts tell.
live = summary.counts_ > 2 * summary.counts_error_
cells, counts = summary.cells_[live], summary.counts_[live]
labels = {
    "k-means, weighted": KMeans(3, n_init=10, random_state=0)
    .fit(cells, sample_weight=counts)
    .labels_,
    "Ward's tree": AgglomerativeClustering(3).fit(cells).labels_,
}
figure, panels = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True)
for panel, (name, found) in zip(panels, labels.items(), strict=True):
    panel.scatter(*cells.T, s=counts / 5, c=found, cmap="viridis", alpha=0.7)
    panel.set_title(name)
plt.show()
