"""PE-means: evolution of candidates after Humphries and others (2026), in our words.

A population of candidates is counted: how many rows are nearest to each, with normal noise. Counts
below the threshold at which the others add up to all rows are dropped; weighted k-means of the rest
gives k parents, and steps of a Lévy flight from these the next population. Unlike in the authors'
code, the number of rows is asked with noise, and population and generations are bounded. This is
the variant for few dimensions, which its authors measure on up to 128 columns too; that for many
adds one number to all coordinates and is not private.
Noise is drawn in floats, which is good enough to compare with and for nothing else.
"""

import math

import numpy as np
from accounting import largest_shift
from scipy.spatial import cKDTree
from scipy.special import gamma
from sklearn.cluster import KMeans

from privclust.clustering.weighted_kmeans import nearest_centre
from privclust.papers.datasets.points import PointSet

FOR_NUMBER = 0.05  # of the squared shift, for the number of rows
MOST_CANDIDATES, MOST_GENERATIONS = 4000, 40
STEP, TAIL = 0.01, 1.75
AT_A_TIME = 2000  # rows


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    rng = np.random.default_rng(seed)
    middle = (data.schema.low + data.schema.high) / 2
    radius = float(np.linalg.norm(data.schema.high - middle))
    rows, k, d = data.points - middle, data.n_clusters, data.points.shape[1]
    shift = largest_shift(epsilon, delta)
    generations = min(MOST_GENERATIONS, max(1, int(4 * math.sqrt(d) * max(1.0, epsilon))))
    noisy_n = max(1.0, len(rows) + rng.normal() / (shift * math.sqrt(FOR_NUMBER)))
    error = math.sqrt(generations / (1 - FOR_NUMBER)) / shift
    offspring = int(min(max(noisy_n / (5 * k), 4), MOST_CANDIDATES / k))
    population = in_ball(rng, (offspring + 1) * k, d, radius)
    for _ in range(generations):
        nearest = nearest_of(population, rows)
        votes = np.bincount(nearest, minlength=len(population)) + rng.normal(
            scale=error, size=len(population)
        )
        votes = np.where(votes >= threshold(votes, noisy_n), np.maximum(votes, 0), 0)
        if (votes**2).sum() < len(votes) * error**2:
            offspring = max(offspring // 2, 4)
        if np.count_nonzero(votes) < k:
            votes += 1
        model = KMeans(k, n_init=3, random_state=seed).fit(population, sample_weight=votes)
        parents = model.cluster_centers_
        population = np.vstack([parents, flights(rng, parents, offspring, radius)])
    return parents + middle


def nearest_of(population, rows):
    """Return the nearest candidate of each row; trees are slow in more than a few dimensions."""
    if rows.shape[1] <= 6:
        return cKDTree(population).query(rows)[1]
    parts = np.array_split(rows, max(1, len(rows) // AT_A_TIME))
    return np.concatenate([nearest_centre(part, population) for part in parts])


def in_ball(rng, count, dimension, radius):
    """Return points that are uniform in a ball."""
    away = rng.standard_normal((count, dimension))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    return away * radius * rng.random((count, 1)) ** (1 / dimension)


def threshold(votes, noisy_n):
    """Return the least of the largest votes that add up to all rows."""
    ordered = np.sort(votes)[::-1]
    place = np.searchsorted(np.cumsum(ordered), noisy_n)
    return ordered[place] if place < len(ordered) else 0.0


def flights(rng, parents, offspring, radius):
    """Return offspring at steps of a Lévy flight from their parents, within the ball."""
    top = gamma(1 + TAIL) * math.sin(math.pi * TAIL / 2)
    bottom = gamma((1 + TAIL) / 2) * TAIL * 2 ** ((TAIL - 1) / 2)
    shape = len(parents) * offspring, parents.shape[1]
    steps = rng.normal(scale=(top / bottom) ** (1 / TAIL), size=shape)
    steps /= np.abs(rng.standard_normal(shape)) ** (1 / TAIL)
    moved = np.repeat(parents, offspring, axis=0) + STEP * radius * steps
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return moved * np.minimum(1, radius / np.maximum(lengths, 1e-300))
