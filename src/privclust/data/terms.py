"""Terms: what one row can add to each entry of an exact statistic.

Every kernel declares its terms beside it, and the view holds the exact integers to what so many
terms can add up to before any noise is drawn. For a correct kernel this changes nothing. A wrong
one, even if it is off by 2^63, cannot move an answer by more than the rows could.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Integers
from privclust.exceptions import DataError

__all__ = ["ONE_CELL", "Term"]


@dataclass(frozen=True)
class Term:
    """An integer between ``low`` and ``high``, added to each entry of a statistic by one row.

    Attributes
    ----------
    low, high : int or ndarray of int64
        For all entries alike, or for each.
    base : int or ndarray of int64
        Public: what the entries are if there are no rows at all.
    """

    low: int | Integers = 0
    high: int | Integers = 1
    base: int | Integers = 0

    def saturated(self, exact: Integers, n_terms: int) -> Integers:
        """Return the integers, none of them beyond what this many terms add up to.

        Notes
        -----
        *Why this is private.* The sum of n terms lies between the bounds already, so nothing is
        changed and the sensitivity stays what it was; see ``proofs/saturation.md``. Sums that could
        leave 64 bits are refused, because what has wrapped around cannot be put right.
        """
        largest = max(_size(self.low), _size(self.high)) * n_terms + _size(self.base)
        if largest >= 2**63:
            raise DataError(
                "The data have more rows than 64-bit sums can hold; fit a part of them."
            )
        low, high = (self.base + n_terms * bound for bound in (self.low, self.high))
        held: Integers = np.clip(exact, low, high)
        return held


# A row stands in one cell of a table of counts, and not in the others.
ONE_CELL = Term(0, 1)


def _size(bound: int | Integers) -> int:
    return int(np.abs(bound).max(initial=0))
