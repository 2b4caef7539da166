"""Toy mechanisms with a planted fault each, and a pair of neighbours that shows it.

``benchmarks/witnesses.py`` replays them all, and ``tests/audit/test_replay.py`` holds it to it.
"""

from __future__ import annotations

import numpy as np

__all__ = ["FAR", "FAULTY", "MORE", "ROWS"]

ROWS = np.array([[0.1, 0.9], [0.4, 0.6], [0.8, 0.2], [0.9, 0.1]])
MORE = np.vstack([ROWS, [[1.0, 1.0]]])
FAR = np.vstack([ROWS, [[1000.0, -1000.0]]])


def halved_noise(rows, rng):
    return len(rows) + rng.laplace(scale=0.5)


def no_clipping(rows, rng):
    return rows.sum(axis=0) + rng.laplace(scale=2, size=2)


def scale_from_the_rows(rows, rng):
    return rows.sum(axis=0) + rng.laplace(scale=np.abs(rows).max() * 2, size=2)


def scaled_down_in_place(rows, rng):
    noise = rng.laplace(size=2)
    noise *= 0.01
    return np.clip(rows, 0, 1).sum(axis=0) + noise


def noise_left_out(rows, rng):
    noise = rng.laplace(scale=2, size=2)
    noise[1] = 0
    return np.clip(rows, 0, 1).sum(axis=0) + noise


def one_number_for_all(rows, rng):
    return np.clip(rows, 0, 1)[:, [0]].sum(axis=0) * [1, 2] + rng.laplace(scale=100)


def noise_used_twice(rows, rng):
    noise = rng.laplace(scale=100)
    return len(rows) + noise, np.clip(rows, 0, 1).sum() + noise


def divided_by_the_exact_size(rows, rng):
    return {"mean": (np.clip(rows, 0, 1).sum() + rng.laplace(scale=2)) / len(rows)}


def stops_when_rows_say_so(rows, rng):
    answers = []
    for threshold in (1, 2, 3, 4, 5):
        answers.append(threshold + rng.laplace(scale=10))
        if len(rows) <= threshold:
            break
    return len(answers) > 100


def bins_from_the_rows(rows, rng):
    bins = np.unique(rows[:, 0].round(1))
    return np.zeros(len(bins)) + rng.laplace(scale=1, size=len(bins))


def budget_spent_twice(rows, rng):
    return len(rows) + rng.laplace(scale=1), len(rows) + rng.laplace(scale=1)


def poisoned_by_one_value(rows, rng):
    return np.clip(rows, 0, 1).sum() + rng.laplace(scale=2)


def sharp_choice(rows, rng):
    chances = np.exp(np.array([(rows[:, 0] > 0.5).sum(), 2.0]) * 2)
    return rng.choice(2, p=chances / chances.sum())


def picks_a_row(rows, rng):
    weights = np.ones(4)
    return rows[:4][rng.choice(4, p=weights / 4)] + rng.laplace(scale=1e-3, size=2)


def empty_clusters_dropped(rows, rng):
    labels = (np.clip(rows, 0, 1)[:, 0] >= 1).astype(int)
    return [(labels == label).sum() + rng.laplace(scale=1) for label in np.unique(labels)]


def error_that_tells(rows, rng):
    noisy = len(rows) + rng.laplace(scale=1)
    if len(rows) < 5:
        raise ValueError("too few rows")
    return noisy


NAN = np.vstack([ROWS, [[np.nan, 0.5]]])
FAULTY = {
    halved_noise: (MORE, "more than was claimed"),
    no_clipping: (FAR, "more than was claimed"),
    scale_from_the_rows: (FAR, "depends on the rows"),
    scaled_down_in_place: (MORE, "more than was claimed"),
    noise_left_out: (MORE, "output differs"),
    one_number_for_all: (MORE, "does not hide"),
    noise_used_twice: (MORE, "does not hide"),
    divided_by_the_exact_size: (MORE, "output differs"),
    stops_when_rows_say_so: (MORE, "more questions"),
    bins_from_the_rows: (MORE, "depends on the rows"),
    budget_spent_twice: (MORE, "more than was claimed"),
    poisoned_by_one_value: (NAN, "does not hide"),
    sharp_choice: (MORE, "more than was claimed"),
    picks_a_row: (MORE[1:], "more than was claimed"),
    empty_clusters_dropped: (MORE, "more questions"),
    error_that_tells: (MORE, "ends with an error"),
}
