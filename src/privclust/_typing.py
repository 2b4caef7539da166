"""Names for the arrays that go through the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices", "Integers", "Labels"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.int64]
Indices = NDArray[np.intp]
