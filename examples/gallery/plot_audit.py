"""
An audit finds too little noise
===============================

The auditor runs a mechanism many times on two neighbouring data sets and bounds its privacy loss
from below. Here a count with enough noise passes, and one with half the noise is found out.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust.audit import NeighbourPair, audit

pair = NeighbourPair("one row more", np.zeros((20, 1)), np.zeros((21, 1)))


def count(scale):
    return lambda rows, rng: len(rows) + rng.laplace(scale=scale)


# %%
# Both claim ε = 1.
reports = {
    name: audit(count(scale), [pair], claimed=1.0, runs=4_000)
    for name, scale in (("full noise", 1.0), ("half the noise", 0.5))
}
for name, report in reports.items():
    print(name, report, sep=": ")
figure, axes = plt.subplots()
axes.bar(list(reports), [report.epsilon_lower for report in reports.values()])
axes.axhline(1, color="black", linestyle="--", label="claimed")
axes.set_ylabel("ε is at least")
axes.legend()
plt.show()
