"""
Which answers are alike?
========================

Two categories are close if they come with the same other categories. DILCA learns that from
tables of pairs, here from noisy ones.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privclust import Categories, PrivateDilca, Schema

rng = np.random.default_rng(5)
city = rng.integers(0, 2, 5_000)
transport = np.where(
    rng.random(5_000) < 0.9,
    np.where(city == 1, rng.choice(["bus", "train"], 5_000), rng.choice(["car", "tractor"], 5_000)),
    rng.choice(["bus", "train", "car", "tractor"], 5_000),
)
home = np.where(rng.random(5_000) < 0.85, np.where(city == 1, "flat", "house"), "flat")
survey = pd.DataFrame({"transport": transport, "home": home})
schema = Schema(
    {
        "transport": Categories(["bus", "train", "car", "tractor"]),
        "home": Categories(["flat", "house"]),
    }
)

# %%
# Bus and train are close, car and tractor too: they are used by the same kind of people.
learned = PrivateDilca(epsilon=1.0, schema=schema).fit(survey)
distances = learned.distance_matrix("transport", as_frame=True)
figure, axes = plt.subplots()
image = axes.imshow(distances)
axes.set_xticks(range(4), distances.columns)
axes.set_yticks(range(4), distances.index)
figure.colorbar(image, label="distance")
plt.show()
