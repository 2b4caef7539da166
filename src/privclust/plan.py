"""The plan of a fit: every question with its cost and noise, and the error to expect.

A plan is made by rehearsing the fit on synthetic rows of the declared shape. No data are touched
and nothing is spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privclust.privacy.statement import PrivacyStatement

__all__ = ["Plan"]

_POOR = 1.5


@dataclass(frozen=True, repr=False)
class Plan:
    """What a fit would ask, what it would cost, and how well it would do.

    Attributes
    ----------
    statement : PrivacyStatement
        The questions of the rehearsal. Later questions can depend on earlier noisy answers, so the
        noise of the real fit may differ a little; its cost does not.
    n_rows : int
        The number of synthetic rows of the rehearsal.
    error_ratio : float
        The error of the released result on the synthetic rows, divided by that of a fit without
        privacy; 1 is perfect.
    measure : str
        What error is meant.
    """

    statement: PrivacyStatement
    n_rows: int
    error_ratio: float
    measure: str

    @property
    def advice(self) -> str:
        """What to make of the expected error, in one sentence."""
        if self.error_ratio <= _POOR:
            return "The budget suffices for this many rows of such data."
        return (
            "The budget is too small for this many rows: expect a poor result; raise epsilon, set "
            "delta, ask for fewer clusters or columns, or gather more rows."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "statement": self.statement.to_dict(),
            "n_rows": self.n_rows,
            "error_ratio": self.error_ratio,
            "measure": self.measure,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        pure = self.statement.delta == 0
        total = self.statement.spent.pure if pure else self.statement.spent.rho
        lines = [
            f"Plan: {'ε' if pure else 'ρ'} = {float(total or 0):.4g} in all, rehearsed on "
            f"{self.n_rows:,} synthetic rows",
            self.statement.protects,
        ]
        for charge in self.statement.queries:
            cost = charge.loss.pure if pure else charge.loss.rho
            lines.append(f"  {float(cost or 0):9.4g}  {charge.query} ({charge.noise})")
        lines.append(f"Expected {self.measure}: {self.error_ratio:.3g} times that without privacy.")
        lines.append(self.advice)
        return "\n".join(lines)

    __repr__ = __str__
