"""
Customers and goods at once
===========================

Co-clustering sorts the rows and the columns of a matrix of counts, so that blocks show.
"""

import matplotlib.pyplot as plt
import numpy as np

from privclust import PrivateCoclustering

rng = np.random.default_rng(4)
taste, shelf = rng.integers(0, 3, 800), rng.integers(0, 3, 90)
counts = rng.poisson(np.where(taste[:, None] == shelf, 1.2, 0.1))
model = PrivateCoclustering(3, 3, epsilon=1.0).fit(counts)

# %%
# The right picture is for whoever holds the counts. The clusters of columns and the totals of the
# blocks may be published.
by_row = np.argsort(model.predict(counts), kind="stable")
by_column = np.argsort(model.column_labels_, kind="stable")
figure, panels = plt.subplots(1, 3, figsize=(11, 4))
panels[0].imshow(counts, aspect="auto", vmax=3)
panels[0].set_title("as it came")
panels[1].imshow(counts[np.ix_(by_row, by_column)], aspect="auto", vmax=3)
panels[1].set_title("sorted by clusters")
panels[2].imshow(model.block_totals_, aspect="auto")
panels[2].set_title("released block totals")
plt.show()
