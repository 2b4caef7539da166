"""What a fit states of itself: what it promises, what was asked, and what voids the promise.

``privclust.statement`` writes and reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from privclust.privacy.meter import Charge, Meter
from privclust.unit import Unit

# The flaw of every fit whose noise can be reproduced.
SEEDED = "the noise came from a seed and can be removed; use it for tests only"


@dataclass(frozen=True, repr=False)
class FitStatement:
    """What a fit promises about the people in the data.

    Attributes
    ----------
    epsilon, delta : Fraction
        The promise: (ε, δ)-differential privacy.
    unit : dict
        The privacy unit as plain data; ``protects`` says it in words.
    protects : str
        What is protected, in words.
    queries : tuple of Charge
        Every question that was asked of the data, with its noise and its cost.
    flaws : tuple of str
        Why there is no promise at all, each reason a clause without a full stop: seeded noise, a
        step that learned from the same rows without noise, a choice made by exact scores. Empty
        for a private release.
    receipt : str or None
        The ledger's receipt, if the fit was charged to one.
    """

    epsilon: Fraction
    delta: Fraction
    unit: Mapping[str, Any]
    protects: str
    queries: tuple[Charge, ...]
    flaws: tuple[str, ...] = ()
    receipt: str | None = None

    def __post_init__(self) -> None:
        # A text in place of a tuple would become one flaw per letter.
        if not isinstance(self.flaws, tuple) or not all(isinstance(f, str) for f in self.flaws):
            raise TypeError("The flaws of a privacy statement are a tuple of texts.")

    @classmethod
    def from_meter(
        cls,
        meter: Meter,
        *,
        unit: Unit,
        private: bool,
        flaws: tuple[str, ...] = (),
        receipt: str | None = None,
    ) -> Self:
        """Return the statement of the fit that ``meter`` debited.

        Parameters
        ----------
        meter : Meter
            What the fit was allowed to spend, and what it asked.
        unit : Unit
            What was protected.
        private : bool
            Whether the noise was unpredictable; if not, the first flaw says that it was seeded.
        flaws : tuple of str
            Every other reason why the result is not private.
        receipt : str or None
            The ledger's receipt.
        """
        budget = meter.budget
        return cls(
            budget.epsilon,
            budget.delta,
            unit.to_dict(),
            unit.describe(budget),
            meter.charges,
            flaws if private else (SEEDED, *flaws),
            receipt,
        )

    @property
    def private(self) -> bool:
        """Whether the promise holds: nothing is known that voids it."""
        return not self.flaws
