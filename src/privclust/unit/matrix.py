"""The units of a matrix of counts, and how well they protect what lies several steps apart."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from privclust.budget import Loss, epsilon_spent, round_up
from privclust.unit.base import CHANGES, UnitBase, UnitStep

if TYPE_CHECKING:
    from privclust.budget import Budget


# How well a promise about neighbours protects what lies several steps apart.


def group_loss(loss: Loss, size: int) -> Loss:
    """Return the loss about data sets that are ``size`` steps between neighbours apart.

    Notes
    -----
    *Why this holds.* Pure ε adds up along the steps; ρ-zCDP for neighbours is
    ρ size² for them (group privacy of zCDP, Bun and Steinke 2016). See ``proofs/matrix.md``.
    """
    return Loss(None if loss.pure is None else loss.pure * size, loss.rho * size**2)


def group_epsilon(budget: Budget, size: int) -> Fraction:
    """Return the ε at which a fit within ``budget`` protects ``size`` steps, at the same δ.

    Notes
    -----
    *Why this holds.* For δ = 0 the ε add up. For δ > 0 a fit ends within ρ, or within pure ε if it
    left its δ unspent, and which of the two may depend on its answers. The larger of the two losses
    applies, by the proof for one step in ``proofs/accounting.md``.
    """
    together = budget.epsilon * size
    if budget.currency == "pure":
        return together
    within_rho = group_loss(Loss(None, budget.amount), size).rho
    return max(together, epsilon_spent(within_rho, budget.delta))


def group_words(budget: Budget, size: int) -> str:
    """Return the ε of a group with three digits, rounded up."""
    return format(round_up(group_epsilon(budget, size), 3), "f")


Unreadable = Literal["error", "zero"]

# The finest grid that entries of a matrix may be put on, in steps to their cap.
MOST_ENTRY_STEPS = 2**20

# The numbers of steps for which the loss is stated in words.
_GROUPS = (10, 100)


class MatrixUnit(UnitBase):
    """A unit of a matrix of counts: how entries are counted, and what one step changes in them."""

    # What to do with a stored entry that is not a count: refuse the matrix, or count it as 0.
    unreadable: Unreadable = "error"
    # Entries are rounded to multiples of the step, and count as at most the cap.
    step: float = 1
    cap: float | None = None
    # Whether one step adds or removes a whole row, so that even the number of rows is private.
    whole_rows: ClassVar[bool] = False
    _usual: ClassVar[Mapping[str, Any]] = {"unreadable": "error"}

    def __post_init__(self) -> None:
        if self.unreadable not in ("error", "zero"):
            raise ValueError(f'unreadable must be "error" or "zero", got {self.unreadable!r}.')

    @property
    def levels(self) -> int:
        """The most steps by which one entry can differ between neighbours."""
        raise NotImplementedError

    @property
    def _rule(self) -> str:
        """The sentence about entries that are not counts."""
        return " An entry that is no count counts as 0." if self.unreadable == "zero" else ""

    @property
    def one_step(self) -> UnitStep:
        """One step between neighbours: for single entries, up to ``levels`` steps of one."""
        return UnitStep(1 if self.whole_rows else self.levels)


@dataclass(frozen=True)
class MatrixCount(MatrixUnit):
    """Neighbours are matrices of counts of one shape, one entry of which differs by one.

    Parameters
    ----------
    unreadable : "error" or "zero", default="error"
        Refuse a matrix with an entry that is not a count (negative, missing, infinite, a fraction
        or not a number at all), or count each such entry as 0.

    Notes
    -----
    *Why this is private.* The entry is in one row and one column, so a table of sums over groups
    of rows and columns moves in one cell, by one. The shape is the same in all neighbours and
    therefore not protected.
    """

    unreadable: Unreadable = "error"
    name: ClassVar[str] = "matrix-count"

    @property
    def levels(self) -> int:
        """A count differs by one."""
        return 1

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected; with a budget also how well larger changes are."""
        return (
            f"Adding one to any one entry of the matrix, or taking one away, {CHANGES} "
            f"Larger changes are protected less{_in_groups(budget, 'a row of {} counts')}. "
            f"The shape of the matrix is not protected.{self._rule}"
        )


@dataclass(frozen=True)
class MatrixEntry(MatrixUnit):
    """Neighbours are matrices of one shape, one entry of which differs by any amount.

    Parameters
    ----------
    cap : number, default=1
        Larger entries count as this much; with 1 only their presence counts.
    step : number, default=1
        Entries are rounded to multiples of it. With 1 they must be whole numbers; declare a smaller
        step for real numbers.
    unreadable : "error" or "zero", default="error"
        As in :class:`MatrixCount`; with a smaller step fractions are read and rounded.

    Notes
    -----
    *Why this is private.* After the cap an entry lies between 0 and ``cap``, so one step moves one
    cell of a table of sums by at most ``cap``. The shape of the matrix is not protected.
    """

    cap: float = 1
    step: float = 1
    unreadable: Unreadable = "error"
    name: ClassVar[str] = "matrix-entry"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("cap", self.cap), ("step", self.step)):
            number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not number or not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above zero, got {value!r}.")
        steps = self.cap / self.step
        if not steps < MOST_ENTRY_STEPS + 0.5 or not _is_whole(self.cap, self.step):
            raise ValueError(
                f"cap={self.cap!r} must be a whole multiple of step={self.step!r}, at most "
                f"{MOST_ENTRY_STEPS} times it; change one of the two."
            )

    @property
    def levels(self) -> int:
        """The cap, in steps."""
        return round(self.cap / self.step)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected; with a budget also how well larger changes are."""
        counted = (
            "only its presence counts" if self.levels == 1 else f"at most {self.cap:g} of it counts"
        )
        return (
            f"Changing any one entry of the matrix to any other value ({counted}) {CHANGES} "
            f"Larger changes are protected less{_in_groups(budget, 'a row with {} entries')}. "
            f"The shape of the matrix is not protected.{self._rule}"
        )


@dataclass(frozen=True)
class MatrixRow(MatrixUnit):
    """Neighbours are matrices with the same columns that differ by one whole row.

    Parameters
    ----------
    unreadable : "error" or "zero", default="error"
        As in :class:`MatrixCount`.

    Notes
    -----
    *Why this is private.* Every row is brought to length one before it enters a sum, so one step
    moves a table of sums by a vector of length at most one. The number of rows is protected, the
    number of columns is not.
    """

    unreadable: Unreadable = "error"
    name: ClassVar[str] = "matrix-row"
    whole_rows: ClassVar[bool] = True

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any one whole row of the matrix {CHANGES}{self._rule}"


def _is_whole(cap: float, step: float) -> bool:
    """Return whether one number is a whole multiple of the other, as decimals or as floats."""
    # 0.3 / 0.1 is below 3 in floats, and 1 / (1 / 3) is 3 only in floats.
    as_written = Fraction(str(cap)) / Fraction(str(step))
    return as_written.denominator == 1 or round(cap / step) == cap / step


def _in_groups(budget: Budget | None, group: str) -> str:
    """Return words for the ε at which a budget protects several steps at once, at the same δ."""
    if budget is None:
        return ""
    groups = [f"{group.format(size)} at ε = {group_words(budget, size)}" for size in _GROUPS]
    return f": {' and '.join(groups)}" + (", at the same δ" if budget.delta else "")
