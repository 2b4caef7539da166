"""
New sites beside private ones
=============================

New clinics are chosen among public towns, so that people are near one of them or near an existing
practice. Where the practices are stays private.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateSourceTargetMedoids

rng = np.random.default_rng(6)
towns = rng.uniform(0, 1, (150, 2))
practices = rng.uniform((0, 0), (0.5, 1), (2_000, 2))  # the west is served already
model = PrivateSourceTargetMedoids(4, epsilon=1.0, bounds=(0, 1)).fit(towns, source=practices)

# %%
# The new clinics go to the east, though no practice is shown.
figure, axes = plt.subplots()
axes.scatter(*towns.T, s=12, color="grey", label="towns, public")
axes.scatter(*towns[model.medoid_indices_].T, s=90, marker="*", label="new clinics")
axes.axvspan(0, 0.5, alpha=0.1, label="where the practices are (not released)")
axes.legend(loc="lower left")
plt.show()
