"""
A first release
===============

Three kinds of patients, two columns, one release.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import Box, PrivateKMeans, Schema

rng = np.random.default_rng(0)
kind = rng.choice(3, 5_000, p=[0.5, 0.3, 0.2])
ages = rng.normal(np.array([35, 62, 78])[kind], 6)
visits = rng.normal(np.array([5, 15, 30])[kind], 3)
rows = np.column_stack([ages, visits])

# %%
# Bounds are public knowledge. Rows outside of them are clipped.
schema = Schema({"age": Box(0, 110), "visits": Box(0, 50)})
model = PrivateKMeans(n_clusters=3, epsilon=1.0, schema=schema).fit(rows)

# %%
# Only the centres and sizes may be published. The rows are drawn here because they are made up.
figure, axes = plt.subplots()
axes.scatter(ages, visits, s=2, alpha=0.3, label="rows, private")
axes.scatter(*model.cluster_centers_.T, s=model.cluster_sizes_ / 15, alpha=0.8, label="release")
axes.set(xlabel="age", ylabel="visits a year")
axes.legend()
plt.show()
