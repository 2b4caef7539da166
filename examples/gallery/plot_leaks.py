"""
What voids the promise, and how you are told
============================================

A scaler that was fitted to the private rows has seen them without noise. privclust notices it in a
pipeline, warns, and marks the release.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privclust import PrivateKMeans

rng = np.random.default_rng(8)
rows = np.clip(rng.normal(0.5, 0.1, (2_000, 2)), 0, 1)
rows[0] = (1.0, 1.0)

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    leaking = make_pipeline(StandardScaler(), PrivateKMeans(2, epsilon=1.0, bounds=(-5, 5)))
    leaking.fit(rows)
print(seen[0].category.__name__, seen[0].message, sep=": ")
print(leaking[-1].privacy_)

# %%
# Declare bounds instead: with a schema, distances are in units of the declared widths, so no
# scaler is needed.
private = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(rows)
print(private.privacy_)
figure, axes = plt.subplots()
axes.scatter(*rows.T, s=2, alpha=0.3)
axes.scatter(*private.cluster_centers_.T, marker="x", color="black")
plt.show()
