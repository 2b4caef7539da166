"""Names for the types of arrays in the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Group indices: as released, as NumPy returns them, and as stored with large data.
Labels = NDArray[np.int64]
Indices = NDArray[np.intp]
ShortLabels = NDArray[np.int32]
# Category numbers, in the smallest type that holds them.
Codes = NDArray[np.unsignedinteger]
# Sixty-four bits, such as a hash.
Words = NDArray[np.uint64]
