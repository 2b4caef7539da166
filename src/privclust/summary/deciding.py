"""What the criteria for the number of clusters say together: a number, 1, or no clear number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats

__all__ = ["STABLE", "Best"]

STABLE = 0.9  # mean adjusted Rand index over the redraws
_FEWEST_CELLS = 16  # below, clusters are unstable whether there are any or not


@dataclass(frozen=True)
class Best:
    """The number that each criterion prefers, and what is known about stability."""

    by_separation: int
    by_bic: int
    by_stability: int
    is_stable: bool
    only_stable: int | None  # if there is just one
    is_of_few: bool
    likelier: int  # of the first two, the more stable one

    @classmethod
    def of(
        cls, ks: tuple[int, ...], separation: Floats, bic: Floats, stability: Floats, n_cells: int
    ) -> Best:
        """Return what the criteria say of numbers ``ks``."""
        several = np.array(ks) > 1
        stable = np.array(ks)[several & (stability >= STABLE)]
        first, second = int(separation.argmax()), int(bic.argmax())
        likelier = second if several[second] and stability[second] > stability[first] else first
        return cls(
            by_separation=ks[first],
            by_bic=ks[second],
            by_stability=ks[int(np.where(several, stability, -1).argmax())],
            is_stable=len(stable) > 0,
            only_stable=int(stable[0]) if len(stable) == 1 else None,
            is_of_few=bool(several.any()) and n_cells < _FEWEST_CELLS,
            likelier=ks[likelier],
        )

    def of_numbers(self) -> tuple[int | None, int]:
        """Return the number, if there is a clear one, and what to suggest."""
        if not self.is_stable:
            return (None, self.by_stability) if self.is_of_few else (1, 1)
        number = self.by_separation
        return (number if number == self.by_bic else None), number

    def of_mixed_rows(self, stand: Callable[[int], bool]) -> tuple[int | None, int]:
        """Return the same of mixed rows, given which clusters stand beside independent columns."""
        number, suggestion = self.of_numbers()
        if number is None:
            only = self.only_stable
            if only in (self.by_separation, self.by_bic) and stand(only):
                return only, only
            return None, self.likelier if self.is_stable else suggestion
        if number == 1:
            return (None, self.by_bic) if stand(self.by_bic) else (1, 1)
        return (number if stand(number) else None), number
