"""The numbers that were fitted to data: what each decides, and what it was fitted on.

They steer questions by public facts and noisy answers, so no promise rests on them. Origins: *few
rows*, sets of 100 to 2000 rows with 2 to 40 columns and 2 to 10 clusters, generated other than
those of the research notes (``docs/research/few-rows.md``), but with the results on these known;
*few columns*, the sets of ``benchmarks/few_columns.py`` without a third star; *leaderboard*, those
that ``benchmarks/floor.py`` lists as chosen on. A rehearsal of every method on imagined rows would
replace the first table, once it does better: so far it does as well, for six times the CPU.
"""

from __future__ import annotations

import math
from fractions import Fraction

# Which method a fit uses if none is named.
# Cautious steps below this signal, which grows with this power of the columns in pure ε, where
# noise does; in at most as many columns as were tried, but for a few (digits has 64). Few rows.
CAUTIOUS_SIGNAL = {"pure": 125.0, "zcdp": 28.0}
COLUMNS_POWER = {"pure": 0.25, "zcdp": 0.0}
MOST_COLUMNS = 40
# A grid for at least this many clusters and at most this many columns, while the rows of a cluster,
# in errors of a count times the columns (two at least), are fewer than this. Few columns.
GRID_CLUSTERS = {"pure": 2, "zcdp": 12}
GRID_COLUMNS = {"pure": 3, "zcdp": 2}
GRID_SIGNAL = {"pure": 700.0, "zcdp": 30.0}
# A grid in pure ε instead of cells in ρ: while the signal, in such errors of a count in ρ, is below
# this, and if the number of rows in pure ε leaves most of ρ. Few columns.
EITHER_SIGNAL = 130.0
MOST_AT_FIRST = Fraction(1, 5)  # of ρ, for the number of rows in pure ε

# The methods for few rows.
# Cells of a grid for each cluster and axis, unless a cell would have fewer rows on average than
# this many errors of a count; more with more signal. Few columns.
CELLS_OF_A_CLUSTER, ROWS_OF_A_CELL = 10, 1.0
# Cautious steps: a second one if its noise is at most this much of the expected move; a third and
# fourth if half of that. Few rows.
STEP_NOISE = 0.6

# Cells and steps. Leaderboard.
# If the distance of rows from their cells is unknown, the error of a cell's mean may be this much
# of its radius; if rows are known to be closer, the radius is at most this much shorter.
SMALL, SHORTEST = 0.2, 0.1
# In at most this many columns cells thrown at random reach far rows. In more, places at the ends of
# columns help, which may be this share of the cells. Adult, with 244 rows of 48 842 at one end.
FEW_COLUMNS, FAR = 4, 1 / 8
# Lloyd's iteration converges by about a constant factor, so noise should as well: each step is paid
# as much more as halves the variance of its noise. The noise of the first step may be this much of
# the mean square distance of rows to their centre, because later steps undo it; in pure ε one more
# step costs the others more (30000 x 12, unbalanced, at ε = 0.2). Beyond six steps, each would take
# CPU for at most .15 %.
GROWTH = {"zcdp": 2.0, "pure": math.sqrt(2)}
FIRST_NOISE = {"zcdp": 0.5, "pure": 0.05}
MOST_STEPS = 6
# Rows far out may be in no cell: a clip is at least as wide as adds this much of the mean square.
UNSEEN_NOISE = 0.0002
# A centre seems to have no rows only if noise is at most this much of a usual cluster; it may move
# to one of this many cells. Birch2-like, s1, unb 1e5_5_16.
CLEARLY_FEW, TRIED = 0.1, 50
