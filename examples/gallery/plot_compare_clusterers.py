"""
Comparing clusterers, privately
===============================

The picture by which scikit-learn compares clustering algorithms, drawn from private releases alone.
For each of six sets three releases are made: a summary, which six columns share, a Gaussian mixture
and a density. Each costs ε = 1, so the three releases of one set cost ε = 3 together.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateDensity, PrivateGaussianMixture, PrivateSummary
from sklearn import cluster, datasets, metrics

warnings.simplefilter("ignore")  # about inertias and graphs, of which nothing is shown here
N_ROWS, EPSILON = 10_000, 1.0

# %%
# The sets are made up, so that we know the answer: it is only used to score what is found.
centres = datasets.make_blobs(10, random_state=170, return_centers=True)[2]
stretched, of_stretched = datasets.make_blobs(N_ROWS, centers=centres, random_state=170)
sets = {
    "circles": (*datasets.make_circles(N_ROWS, factor=0.5, noise=0.05, random_state=30), 2),
    "moons": (*datasets.make_moons(N_ROWS, noise=0.05, random_state=30), 2),
    "varied": (
        *datasets.make_blobs(
            N_ROWS, centers=centres, cluster_std=[1.0, 2.5, 0.5], random_state=170
        ),
        3,
    ),
    "stretched": (stretched @ [[0.6, -0.6], [-0.4, 0.8]], of_stretched, 3),
    "blobs": (*datasets.make_blobs(N_ROWS, random_state=30), 3),
    "nothing": (np.random.default_rng(0).random((N_ROWS, 2)), np.zeros(N_ROWS, int), 3),
}

# %%
# Any clusterer works on a released summary, at no further cost, and labels new rows. A mixture and
# a density see more of the rows than its cells show, for a budget of their own.


def clusterers(k, width):
    """Return what to compare; k is the number of clusters, and width that of the bounds."""
    return {
        "Single linkage": cluster.AgglomerativeClustering(k, linkage="single"),
        "Spectral": cluster.SpectralClustering(
            k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=0
        ),
        "Mean shift": cluster.MeanShift(bandwidth=0.15 * width, bin_seeding=True),
        "HDBSCAN": cluster.HDBSCAN(min_cluster_size=100, min_samples=10, copy=True),
    }


COLOURS = np.array(["#377eb8", "#ff7f00", "#4daf4a", "#f781bf", "#a65628", "#984ea3", "#999999"])


def draw(panel, places, labels, weights, marker, bounds, words):
    """Draw released cells, coloured by cluster; black is noise."""
    sizes = np.clip(20 * weights / np.quantile(weights, 0.9), 1, 40)
    colours = np.where(labels < 0, "#000000", COLOURS[labels % len(COLOURS)])
    panel.scatter(*places.T, s=sizes, c=colours, linewidths=0, marker=marker)
    panel.text(0.98, 0.02, words, transform=panel.transAxes, ha="right", fontsize=9)
    panel.set(xlim=bounds[:, 0], ylim=bounds[:, 1], xticks=[], yticks=[])


def words(rows_labels, truth, name):
    """Return the adjusted Rand index; of the set without clusters, how many were found."""
    if name == "nothing":
        return f"k = {len(np.unique(rows_labels[rows_labels >= 0]))}"
    return f"{max(0.0, metrics.adjusted_rand_score(truth, rows_labels)):.2f}"


figure, panels = plt.subplots(6, 8, figsize=(16, 12))
for line, (name, (rows, truth, k)) in zip(panels, sets.items(), strict=True):
    low, high = rows.min(axis=0), rows.max(axis=0)
    bounds = np.array([low - 0.1 * (high - low), high + 0.1 * (high - low)])
    summary = PrivateSummary(epsilon=EPSILON, bounds=(bounds[0], bounds[1])).fit(rows)
    live = summary.counts_ > 0
    releases = {"k-means": summary.kmeans(k), "Ward's tree": summary.dendrogram().cut(k)}
    for title, model in clusterers(k, float((high - low).max())).items():
        releases[title] = summary.cluster(model, n_rows=2000)
    mixture = PrivateGaussianMixture(k, epsilon=EPSILON, bounds=(bounds[0], bounds[1])).fit(rows)
    releases["Gaussian mixture"] = mixture.release()
    for panel, (title, release) in zip(line, releases.items(), strict=False):
        cells, weights = summary.cells_[live], summary.counts_[live]
        found = release.predict(cells)
        draw(panel, cells, found, weights, "o", bounds, words(release.predict(rows), truth, name))
        panel.set_title(title if name == "circles" else "", fontsize=11)

    density = PrivateDensity(epsilon=EPSILON, bounds=(bounds[0], bounds[1])).fit(rows)
    clusters = density.clusters()
    middles = [(edges[:-1] + edges[1:]) / 2 for edges in density.edges_]
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    labels = clusters.cell_labels.ravel()
    seen = labels >= 0
    told = words(clusters.predict(rows, noise=False), truth, name)
    draw(line[-1], grid[seen], labels[seen], np.full(seen.sum(), 1.0), "s", bounds, told)
    line[-1].set_title("Density (finds k)" if name == "circles" else "", fontsize=11)

# %%
# k is given to all but mean shift, HDBSCAN and the density. Where there is nothing, only the
# density says so.
figure.suptitle(
    f"Clusters from private releases of {N_ROWS:,} rows. Six columns share one summary "
    f"(ε = {EPSILON:g}); the mixture and the density are releases of their own (ε = {EPSILON:g} "
    "each).\nDots are released cells, not rows; the number is the adjusted Rand index of all rows.",
    fontsize=12,
)
figure.tight_layout(rect=(0, 0, 1, 0.97))
plt.show()
