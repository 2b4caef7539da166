"""The privacy statement of a release: what was protected, how strongly, and what was asked.

It is made from the meter of a fit, travels with the release as plain data, and can be read without
the library. Amounts are written as fractions, so that a reader can add them up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privclust.privacy.loss import Loss
from privclust.privacy.meter import Charge, Meter
from privclust.unit import Unit

__all__ = ["PrivacyStatement"]

_NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed and can be removed; use it for tests only."


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
    private : bool
        False if the noise was seeded, in which case there is no promise at all.
    receipt : str or None
        The ledger's receipt, if the fit was charged to one.
    """

    epsilon: Fraction
    delta: Fraction
    unit: Mapping[str, Any]
    protects: str
    queries: tuple[Charge, ...]
    private: bool
    receipt: str | None = None

    @classmethod
    def from_meter(
        cls, meter: Meter, *, unit: Unit, private: bool, receipt: str | None = None
    ) -> PrivacyStatement:
        """Return the statement of the fit that ``meter`` debited."""
        budget = meter.budget
        return cls(
            budget.epsilon,
            budget.delta,
            unit.to_dict(),
            unit.describe(),
            meter.charges,
            private,
            receipt,
        )

    @property
    def spent(self) -> Loss:
        """The composition of all queries."""
        return Loss.total(charge.loss for charge in self.queries)

    @property
    def promise(self) -> str:
        """The promise in one line."""
        if not self.private:
            return _NOT_PRIVATE
        delta = f", δ = {float(self.delta):g}" if self.delta else ""
        return f"differentially private with ε = {float(self.epsilon):g}{delta}"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {
            "private": self.private,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "unit": dict(self.unit),
            "protects": self.protects,
            "queries": [
                {
                    "query": charge.query,
                    "noise": charge.noise,
                    "pure": None if charge.loss.pure is None else str(charge.loss.pure),
                    "rho": str(charge.loss.rho),
                }
                for charge in self.queries
            ],
            "receipt": self.receipt,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyStatement:
        """Read the statement back from :meth:`to_dict`."""
        queries = tuple(
            Charge(
                query["query"],
                Loss(
                    None if query["pure"] is None else Fraction(query["pure"]),
                    Fraction(query["rho"]),
                ),
                query["noise"],
            )
            for query in plain["queries"]
        )
        return cls(
            Fraction(plain["epsilon"]),
            Fraction(plain["delta"]),
            dict(plain["unit"]),
            plain["protects"],
            queries,
            bool(plain["private"]),
            plain["receipt"],
        )

    def __repr__(self) -> str:
        # The mark stands last: scikit-learn's diagrams show the ends of a long repr.
        promise = self.promise if self.private else "the noise came from a seed, NOT PRIVATE"
        return f"PrivacyStatement({promise})"

    def __str__(self) -> str:
        lines = [f"This release is {self.promise}." if self.private else self.promise]
        lines.append(self.protects)
        lines += [f"  {charge.query}: {charge.noise}" for charge in self.queries]
        return "\n".join(lines)
