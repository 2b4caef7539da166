"""
A budget over a year
====================

A ledger keeps what was granted and spent. What is left can only fall.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from privclust import Ledger, PrivateKMeans

rng = np.random.default_rng(9)
rows = rng.uniform(0, 1, (1_000, 2))
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "budget.db")
ledger.create_dataset("survey")
ledger.grant("survey", epsilon=3)

# %%
# Four fits, each charged before it reads a row.
left = [3.0]
for epsilon in (1.0, 0.5, 0.5, 0.25):
    PrivateKMeans(2, epsilon=epsilon, bounds=(0, 1), ledger=ledger, dataset="survey").fit(rows)
    left.append(left[-1] - epsilon)
print(f"ε = {left[-1]} is left")

# %%
figure, axes = plt.subplots()
axes.step(range(5), left, where="post")
axes.set(xlabel="fits", ylabel="ε left", ylim=(0, 3.2))
plt.show()
