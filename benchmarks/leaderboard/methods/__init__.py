"""One file for each method: its name before the colon above, and one function.

``centres(data, epsilon, delta, seed)`` takes a ``PointSet`` and returns centres in the units of the
points. What it does with δ is its own affair; a method that cannot take a set raises
``NotImplementedError`` with the reason and is left out. Nothing else needs to change.
"""
