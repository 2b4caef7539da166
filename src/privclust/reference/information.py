"""Entropy, mutual information and symmetric uncertainty of columns, in bits. NOT PRIVATE.

These are the measures that DILCA and its private variants choose contexts by (Ienco, Pensa, Meo
2012; Battaglia, Celano, Pensa 2021), exact, for comparison. One row can change symmetric
uncertainty by 1, however many rows there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["entropy", "mutual_information", "symmetric_uncertainty"]


def entropy(*columns: ArrayLike) -> float:
    """Return the joint entropy of some columns.

    Examples
    --------
    >>> entropy(["a", "b", "a", "b"])
    1.0
    """
    rows = np.column_stack([np.unique(np.asarray(c), return_inverse=True)[1] for c in columns])
    shares = np.unique(rows, axis=0, return_counts=True)[1] / len(rows)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def mutual_information(
    first: ArrayLike, second: ArrayLike, *, given: tuple[ArrayLike, ...] = ()
) -> float:
    """Return I(first; second), or I(first; second | given).

    Parameters
    ----------
    first, second : array-like of shape (n_rows,)
    given : tuple of array-like, default=()
        Columns that are known already: what the second says about the first beyond them.

    Examples
    --------
    >>> mutual_information([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    >>> mutual_information([0, 1, 1, 0], [0, 0, 1, 1]), mutual_information(
    ...     [0, 1, 1, 0], [0, 0, 1, 1], given=([0, 1, 0, 1],)
    ... )
    (0.0, 1.0)
    """
    known = entropy(*given) if given else 0.0
    with_first, with_second = entropy(first, *given), entropy(second, *given)
    return with_first + with_second - entropy(first, second, *given) - known


def symmetric_uncertainty(first: ArrayLike, second: ArrayLike) -> float:
    """Return 2 I(first; second) / (H(first) + H(second)), from 0 to 1; 0 if both are constant.

    Examples
    --------
    >>> symmetric_uncertainty([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    """
    both = entropy(first) + entropy(second)
    return 2 * mutual_information(first, second) / both if both > 0 else 0.0
