"""Names for the arrays that go through the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
# The number of a group: as released, as NumPy finds it, and as it is kept beside large data.
Labels = NDArray[np.int64]
Indices = NDArray[np.intp]
ShortLabels = NDArray[np.int32]
# Category numbers, in the smallest type that holds them.
Codes = NDArray[np.unsignedinteger]
# Sixty-four bits, such as a hash.
Words = NDArray[np.uint64]
