"""Arrays that are used again and again: one of each name in every thread.

A kernel makes a few megabytes for each piece of rows. Where the allocator gives them back to the
system at once, as in workers of Dask, faulting them in again costs more than the kernel itself.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_arrays = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array of this thread, whose content is whatever was left there.

    Parameters
    ----------
    name : str
        Whoever asks for the same name next gets the same memory, so a name belongs to one place in
        the code, and nothing of the array may outlive the call that filled it.
    """
    size, key = math.prod(shape), (name, np.dtype(dtype))
    kept: dict[Any, NDArray[Any]] = _arrays.__dict__
    if key not in kept or len(kept[key]) < size:
        kept[key] = np.empty(size, dtype)
    return kept[key][:size].reshape(shape)
