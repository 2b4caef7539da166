"""
Bounds that nobody knows
========================

Bounds come from public knowledge. Where there is none, a part of the budget can find them: a fit of
its own, with its own charge and release.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privclust import PrivateBounds, PrivateKMeans

rng = np.random.default_rng(8)
kind = rng.choice(3, 20_000)
frame = pd.DataFrame(
    {
        "voltage": rng.normal(np.array([2e-4, 5e-4, 8e-4])[kind], 4e-5),
        "load": rng.normal(np.array([3e5, 9e5, 5e5])[kind], 5e4),
    }
)

# %%
# A third of the budget for the bounds, the rest for the clusters: ε = 1 in all.
found = PrivateBounds(0.3, columns=["voltage", "load"]).fit(frame)
print(found.schema_)
model = PrivateKMeans(3, epsilon=0.7, schema=found.schema_).fit(frame)

# %%
# The box is the range that was found. A small share of the rows may lie outside, and is clipped.
(low, high), centres = found.bounds_, model.cluster_centers_
figure, axes = plt.subplots()
axes.scatter(frame["voltage"], frame["load"], s=1, alpha=0.2, label="rows, private")
axes.add_patch(plt.Rectangle(low, *(high - low), fill=False, linestyle="--", label="bounds found"))
axes.scatter(*centres.T, marker="x", color="black", s=80, label="centres released")
axes.set(xlabel="voltage", ylabel="load")
axes.legend()
plt.show()
