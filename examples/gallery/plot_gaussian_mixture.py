"""
A Gaussian mixture on synthetic rows
====================================

Synthetic rows are drawn from a summary that is private, so any method may be run on them, as often
as one likes. What comes out is as private as the summary.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.mixture import GaussianMixture

from privclust import PrivateSummary

rng = np.random.default_rng(9)
shapes = [
    ([0.3, 0.3], [[0.010, 0.007], [0.007, 0.008]]),
    ([0.7, 0.65], [[0.003, -0.002], [-0.002, 0.010]]),
]
rows = np.concatenate([rng.multivariate_normal(*shape, 6_000) for shape in shapes]).clip(0, 1)

# %%
# The budget is spent once. Fitting mixtures of 1 to 6 parts and comparing them costs nothing more.
summary = PrivateSummary(epsilon=1.0, bounds=(0, 1)).fit(rows)
synthetic = summary.sample(5_000)
mixtures = [GaussianMixture(k, random_state=0).fit(synthetic) for k in range(1, 7)]
best = min(mixtures, key=lambda mixture: mixture.bic(synthetic))


# %%
# Ellipses hold about nine rows in ten of each part.
def ellipse(mean, covariance, **style):
    sizes, axes_ = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(axes_[1, 1], axes_[0, 1]))
    return Ellipse(mean, *(4.3 * np.sqrt(sizes[::-1])), angle=angle, fill=False, **style)


figure, axes = plt.subplots()
axes.scatter(*rows[::4].T, s=1, alpha=0.3, label="rows, private")
for mean, covariance in shapes:
    axes.add_patch(ellipse(mean, covariance, color="grey", linestyle="--"))
for mean, covariance in zip(best.means_, best.covariances_, strict=True):
    axes.add_patch(ellipse(mean, covariance, color="black"))
axes.plot([], [], "--", color="grey", label="as the rows were made")
axes.plot([], [], color="black", label=f"mixture of {best.n_components}, from synthetic rows")
axes.legend()
plt.show()
