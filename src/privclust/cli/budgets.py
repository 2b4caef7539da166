"""Options that say what is promised: how much may be spent, and whose presence is hidden.

Fits and plans take these groups alike; a new option of all of them is a field here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.errors import UsageError
from privclust.unit import ROW_UNITS, UNITS_WITH_IDS, ReplaceRow, Unit, unit_from

if TYPE_CHECKING:
    RowUnitName = str
else:
    RowUnitName = Literal[ROW_UNITS]

__all__ = [
    "DEFAULT_EPSILON",
    "DEFAULT_TAKEN",
    "BudgetOptions",
    "EpsilonDelta",
    "PersonOptions",
    "RowUnitOptions",
]

DEFAULT_EPSILON = 1.0
# What a command says that spends a budget which nobody gave.
DEFAULT_TAKEN = f"No --epsilon was given, so ε = {DEFAULT_EPSILON:g} is taken."


@dataclass(frozen=True)
class EpsilonDelta:
    """A privacy loss as (ε, δ)."""

    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="NUMBER", help="Privacy loss.", show_default="1"),
    ] = None
    delta: Annotated[
        float, typer.Option("--delta", metavar="NUMBER", help="0; 1e-6 is more accurate.")
    ] = 0.0

    def parameters(self) -> dict[str, Any]:
        """Return the budget as parameters of an estimator; raise if it means nothing."""
        from privclust.budget import Budget

        epsilon = DEFAULT_EPSILON if self.epsilon is None else self.epsilon
        Budget(epsilon, self.delta)
        return {"epsilon": epsilon, "delta": self.delta}


@dataclass(frozen=True)
class BudgetOptions(EpsilonDelta):
    """How much a fit may spend."""

    rho: Annotated[
        float | None, typer.Option("--rho", metavar="NUMBER", help="zCDP, in place of ε.")
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the budget as parameters of an estimator; raise if it means nothing."""
        from privclust.budget import Budget

        if self.rho is None:
            return super().parameters()
        if self.epsilon is not None:
            raise UsageError("--rho takes the place of --epsilon; drop one of them.")
        return {"budget": Budget.of_rho(self.rho, self.delta)}

    @property
    def told(self) -> tuple[str, ...]:
        """The sentence that tells which budget is spent, if none was given."""
        return (DEFAULT_TAKEN,) if self.epsilon is None and self.rho is None else ()


@dataclass(frozen=True)
class PersonOptions:
    """How a person with several rows is known, and how many rows there are."""

    id_column: options.IdColumn = None
    max_rows: options.MaxRows = None
    id_type: Annotated[
        Literal["text", "number"],
        typer.Option("--id-type", help="As numbers, 7 and 07 are one person.", show_default=False),
    ] = "text"
    missing_ids: Annotated[
        Literal["error", "separate"],
        typer.Option("--missing-ids", help="Refuse them, or one person each.", show_default=False),
    ] = "error"
    n_rows: Annotated[
        int | None,
        typer.Option("--n-rows", min=1, metavar="N", help="Their public number; replace-row."),
    ] = None

    def unit_named(self, name: str) -> Unit:
        """Return the privacy unit of a name; those of people need an id column."""
        if self.n_rows is not None and name != ReplaceRow.name:
            raise UsageError(f"--n-rows belongs to --unit {ReplaceRow.name}; add it.")
        if name not in UNITS_WITH_IDS:
            given = (self.id_column, self.max_rows, self.id_type, self.missing_ids)
            if given != (None, None, "text", "error"):
                raise UsageError(
                    "--id-column, --max-rows, --id-type and --missing-ids belong to "
                    f"--unit {' or '.join(UNITS_WITH_IDS)}; add it."
                )
            return unit_from(name) if self.n_rows is None else ReplaceRow(self.n_rows)
        if self.id_column is None or self.max_rows is None:
            raise UsageError(f"--unit {name} needs --id-column NAME and --max-rows NUMBER.")
        return unit_from(
            {
                "name": name,
                "id_column": self.id_column,
                "max_rows": self.max_rows,
                "id_type": self.id_type,
                "missing": self.missing_ids,
            }
        )


@dataclass(frozen=True)
class RowUnitOptions(PersonOptions):
    """Whose presence among the rows is hidden."""

    unit: Annotated[
        RowUnitName,
        typer.Option("--unit", metavar="UNIT", help=f"One of {', '.join(ROW_UNITS)}."),
    ] = "add-remove-row"

    def parameters(self) -> dict[str, Any]:
        """Return the unit as a parameter of an estimator."""
        return {"unit": self.unit_named(self.unit)}
