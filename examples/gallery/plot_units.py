"""
Hiding a row or hiding a person
===============================

If people have several rows, hiding one row does not hide a person. Hiding persons costs noise: of
each, so many rows count at most.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privclust import Box, Person, PrivateKMeans, Schema

rng = np.random.default_rng(7)
person = rng.integers(0, 1_500, 6_000)
kind = person % 3
rows = pd.DataFrame(
    {
        "id": person,
        "x": np.array([0.2, 0.5, 0.8])[kind] + rng.normal(0, 0.05, 6_000),
        "y": np.array([0.3, 0.8, 0.4])[kind] + rng.normal(0, 0.05, 6_000),
    }
)
schema = Schema({"x": Box(0, 1), "y": Box(0, 1)}, ignore=["id"])

# %%
# The error of the noise in each cluster's size grows with the rows of a person that count.
units = {"a row": "add-remove-row", "1 row each": Person("id", 1), "3 rows each": Person("id", 3)}
errors = {}
for name, unit in units.items():
    model = PrivateKMeans(3, epsilon=1.0, schema=schema, unit=unit).fit(rows)
    errors[name] = np.mean(model.cluster_sizes_error_)
figure, axes = plt.subplots()
axes.bar(list(errors), list(errors.values()))
axes.set(xlabel="what is hidden", ylabel="error of a cluster's size, in rows")
plt.show()
