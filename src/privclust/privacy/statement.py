"""The privacy statement of a release: what was protected, how strongly, and what was asked.

It is made from the meter of a fit, travels with the release as plain data, and can be read without
the library. Amounts are written as fractions, so that a reader can add them up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privclust.budget import Budget
from privclust.privacy.loss import Loss, rounded_up
from privclust.privacy.meter import Charge, Meter, lines_of
from privclust.unit import Unit

__all__ = ["SEEDED", "PrivacyStatement"]

# The flaw of every fit whose noise can be made again.
SEEDED = "the noise came from a seed and can be removed; use it for tests only"


@dataclass(frozen=True, repr=False)
class PrivacyStatement:
    """What a release promises about the people in the data.

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
    lists_flaws : bool
        False of the first releases, whose statement has no list of flaws: it is written as it was
        read, so that the digest of the release stays.
    """

    epsilon: Fraction
    delta: Fraction
    unit: Mapping[str, Any]
    protects: str
    queries: tuple[Charge, ...]
    flaws: tuple[str, ...] = ()
    receipt: str | None = None
    lists_flaws: bool = True

    def __post_init__(self) -> None:
        # One text in place of a tuple would be taken for a flaw per letter.
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
    ) -> PrivacyStatement:
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

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed."""
        return SEEDED in self.flaws

    @property
    def spent(self) -> Loss:
        """The composition of all queries."""
        return Loss.total(charge.loss for charge in self.queries)

    @property
    def paid_from(self) -> Budget:
        """The budget that the queries are paid from: the promise or, without a ledger, its ε alone.

        A ledger counts a fit with a δ by its ρ, so that is what such a fit must be paid in.
        """
        promised = Budget(self.epsilon, self.delta)
        return promised if self.receipt is not None else promised.paying(self.spent)

    @property
    def promise(self) -> str:
        """The promise in one line."""
        if not self.private:
            return f"NOT PRIVATE: {'; '.join(self.flaws)}."
        # Rounded up, so that no reader is promised more than holds.
        epsilon, chance = (f"{float(rounded_up(part, 6)):g}" for part in (self.epsilon, self.delta))
        delta = f", δ = {chance}" if self.delta else ""
        return f"differentially private with ε = {epsilon}{delta}"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        plain = {
            "private": self.private,
            "flaws": list(self.flaws),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "unit": dict(self.unit),
            "protects": self.protects,
            "queries": [charge.to_dict() for charge in self.queries],
            "receipt": self.receipt,
        }
        if not self.lists_flaws:
            del plain["flaws"]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyStatement:
        """Read the statement back from :meth:`to_dict`."""
        queries = tuple(Charge.from_dict(query) for query in plain["queries"])
        # The first statements listed no flaws; the one that they could have was a seed.
        flaws = plain.get("flaws", [] if plain["private"] else [SEEDED])
        if plain["private"] is not (not flaws):
            raise ValueError(
                "The privacy statement contradicts itself about whether it is private."
            )
        return cls(
            Fraction(plain["epsilon"]),
            Fraction(plain["delta"]),
            dict(plain["unit"]),
            plain["protects"],
            queries,
            tuple(flaws),
            plain["receipt"],
            lists_flaws="flaws" in plain,
        )

    def __repr__(self) -> str:
        # The mark stands last: scikit-learn's diagrams show the ends of a long repr.
        promise = self.promise if self.private else f"{'; '.join(self.flaws)}: NOT PRIVATE"
        return f"PrivacyStatement({promise})"

    def __str__(self) -> str:
        lines = [f"This release is {self.promise}." if self.private else self.promise]
        lines.append(self.protects)
        lines += [f"  {line}" for line in lines_of(self.queries)]
        return "\n".join(lines)
