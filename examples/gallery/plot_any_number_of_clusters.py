"""
One summary, any number of clusters
===================================

Nobody knows the number of clusters beforehand. A summary is paid for once and answers for every
number, for ever, without the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateSummary

rng = np.random.default_rng(1)
centres = rng.uniform(0.1, 0.9, (6, 2))
rows = np.clip(centres[rng.integers(0, 6, 8_000)] + rng.normal(0, 0.03, (8_000, 2)), 0, 1)
summary = PrivateSummary(epsilon=1.0, bounds=(0, 1)).fit(rows)

# %%
# What it releases are cells: places with noisy counts.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, sharey=True)
sizes = np.clip(summary.counts_, 0, None)
panels[0].scatter(*summary.cells_.T, s=sizes / 10, alpha=0.6)
panels[0].set_title("the released cells")
for panel, k in zip(panels[1:], (3, 6), strict=True):
    panel.scatter(*summary.cells_.T, s=sizes / 10, alpha=0.2)
    panel.scatter(*summary.centers(k).T, marker="x", color="black")
    panel.set_title(f"{k} clusters, at no further cost")
plt.show()

# %%
# It can also say how many clusters there are, or that there is no clear number.
choice = summary.choose_k(range(1, 11))
print(choice)
