"""``privclust schema draft --private``: its options, and the paid question behind it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privclust.bounds.command import BoundsOptions
from privclust.cli import screen
from privclust.cli.budgets import BudgetOptions, RowUnitOptions
from privclust.cli.errors import UsageError
from privclust.cli.fitting import FitOptions
from privclust.cli.reading import Reading
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    from privclust.jobs.publish import Published

__all__ = ["PrivateDraft"]


@dataclass(frozen=True)
class PrivateDraft(BoundsOptions, RowUnitOptions, BudgetOptions):
    """What a draft from private rows takes: the promise, the charge, and where the release goes."""

    private: Annotated[
        bool, typer.Option("--private", help="Draft bounds from PRIVATE rows, with noise.")
    ] = False
    ledger: Annotated[
        str | None, typer.Option("--ledger", metavar="FILE", help="Charged before rows are read.")
    ] = None
    holder: Annotated[
        str | None, typer.Option("--holder", metavar="NAME", help="Whose grants are spent.")
    ] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Name of the data.", show_default="file name"
        ),
    ] = None
    release: Annotated[
        Path, typer.Option("--release", metavar="PATH", help="Where the paid release goes.")
    ] = Path("bounds")

    def check_unused(self) -> None:
        """Raise if an option is given that a draft from a public sample has no use for."""
        given = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        if given:
            option = given[0].replace("_", "-")
            raise UsageError(f"--{option} is for private rows; add --private or drop it.")

    def published(self, data: Path, reading: Reading, *, overwrite: bool) -> Published:
        """Pay for bounds of private rows and publish them."""
        from privclust.cli.publishing import kept_or_printed
        from privclust.jobs.publish import Destination

        shared = {name: getattr(self, name) for name in ("ledger", "holder", "dataset")}
        budget = {field.name: getattr(self, field.name) for field in fields(BudgetOptions)}
        fitting = FitOptions(**budget, **shared)
        promise = RowUnitOptions.parameters(self) | fitting.parameters_for(data)
        fit = Fit(self.model(reading, **promise), data)
        place = Destination.checked(self.release, report=True, overwrite=overwrite)
        for sentence in self.told:
            screen.note(sentence)
        with kept_or_printed(fit), screen.rows_progress("Reading") as listener:
            return fit.run(place, fitting.about(), listener)
