"""
Numbers and categories in one table
===================================

Most tables are mixed. A centre then holds a number for each column of numbers, and for each column
of categories the shares of its values: the profile of a cluster comes with its centre.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privclust import Box, Categories, PrivateKMeans, Schema

rng = np.random.default_rng(7)
kind = rng.choice(3, 6_000, p=[0.5, 0.3, 0.2])
wards = ["medical", "surgical", "maternity"]
usual = np.array(wards)[kind]
stays = pd.DataFrame(
    {
        "age": rng.normal(np.array([70, 45, 30])[kind], 8),
        "days": rng.gamma(2, np.array([4, 2, 1.5])[kind]),
        "ward": np.where(rng.random(6_000) < 0.9, usual, rng.choice(wards, 6_000)),
    }
)

# %%
# The values that a category may have are declared, as bounds are. A category counts as much as the
# whole declared width of a number.
schema = Schema({"age": Box(0, 110), "days": Box(0, 60), "ward": Categories(wards)})
model = PrivateKMeans(n_clusters=3, epsilon=1.0, schema=schema).fit(stays)
print(model.centers_table().round(2))

# %%
# Each cluster, with its noisy size and the shares of its wards.
table = model.centers_table()
order = np.argsort(-model.cluster_sizes_)
sizes, ages, days = model.cluster_sizes_, table["age"], table["days"]
names = [f"{sizes[i]:,.0f} stays\n{ages[i]:.0f} years, {days[i]:.0f} days" for i in order]
figure, axes = plt.subplots(figsize=(7, 3))
left = np.zeros(3)
for ward in wards:
    shares = table[f"ward={ward}"].to_numpy()[order]
    axes.barh(names, shares, left=left, label=ward)
    left += shares
axes.invert_yaxis()
axes.set(xlabel="share of the cluster's stays", xlim=(0, 1))
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3, frameon=False)
figure.tight_layout()
plt.show()
