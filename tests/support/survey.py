"""A small survey whose cities fall into two groups by income; and exact facts about it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privclust import Categories, Schema

SCHEMA = Schema(
    {
        "city": Categories(["A", "B", "C", "D"]),
        "income": Categories([0, 1, 2]),
        "car": Categories([False, True]),
        "sex": Categories(["f", "m"], missing="category", unknown="other"),
    }
)


def survey(n_rows=4000, seed=0):
    """Cities A and B are poor, C and D rich; the car follows the income, the sex nothing."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, 4, n_rows)
    income = np.where(rng.random(n_rows) < 0.15, rng.integers(0, 3, n_rows), 2 * (city >= 2))
    car = (income + rng.integers(0, 2, n_rows)) >= 2
    return pd.DataFrame(
        {
            "city": np.array(list("ABCD"))[city],
            "income": income,
            "car": car,
            "sex": rng.choice(["f", "m"], n_rows),
        }
    )
