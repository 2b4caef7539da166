"""
Synthetic rows from a summary
=============================

``sample`` draws made-up rows from a released summary. They look like the data as far as clusters
and spreads go, and may be handed on; fine detail is lost.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateSummary

rng = np.random.default_rng(2)
angle = rng.uniform(0, 2 * np.pi, 6_000)
ring = 0.5 + 0.35 * np.column_stack([np.cos(angle), np.sin(angle)])
rows = np.clip(ring + rng.normal(0, 0.03, ring.shape), 0, 1)

summary = PrivateSummary(epsilon=1.0, bounds=(0, 1)).fit(rows)
drawn = np.asarray(summary.sample(6_000))

# %%
figure, panels = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True)
panels[0].scatter(*rows.T, s=1)
panels[0].set_title("private rows (made up here)")
panels[1].scatter(*drawn.T, s=1)
panels[1].set_title("synthetic rows, ε = 1")
plt.show()
