"""
Clusters with shapes: a private Gaussian mixture
================================================

k-means cuts space into equal rooms, so long clusters that lie side by side are cut across. A
Gaussian mixture learns the shape of each cluster, here with ε = 1 and δ = 1e-6.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from privclust import PrivateGaussianMixture, PrivateKMeans

rng = np.random.default_rng(9)
shapes = [
    ([-0.17, 0.17], [[0.040, 0.034], [0.034, 0.040]]),
    ([0.11, -0.11], [[0.040, 0.034], [0.034, 0.040]]),
    ([0.55, -0.60], [[0.010, -0.004], [-0.004, 0.006]]),
]
rows = np.concatenate([rng.multivariate_normal(*shape, 4_000) for shape in shapes]).clip(-1, 1)

# %%
# Both spend the same budget. What is released are centres, or weights, means and covariances.
budget = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
centres = PrivateKMeans(3, **budget).fit(rows)
mixture = PrivateGaussianMixture(3, **budget).fit(rows)

# %%
# Labels of the rows are for whoever holds them. Ellipses reach to two deviations.
figure, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(9, 4.5))
for ax, model, title in zip(axes, (centres, mixture), ("k-means", "mixture"), strict=True):
    ax.scatter(*rows[::4].T, c=model.predict(rows[::4]), s=2, cmap="viridis")
    ax.set_title(f"private {title}, ε = 1")
axes[0].scatter(*centres.cluster_centers_.T, marker="x", color="black")
for mean, covariance in zip(mixture.means_, mixture.covariances_, strict=True):
    sizes, directions = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
    style = {"angle": angle, "fill": False, "linewidth": 1.5}
    axes[1].add_patch(Ellipse(mean, *(4 * np.sqrt(sizes[::-1])), **style))
plt.show()
