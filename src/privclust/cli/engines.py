"""Options of commands that read many rows: where they are read, and within how much memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated

import typer

from privclust.cli.errors import UsageError

__all__ = ["EngineOptions"]


@dataclass(frozen=True)
class EngineOptions:
    """Which engine reads the rows; no answer depends on it."""

    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="A Dask cluster, such as tls://host:8786."
        ),
    ] = None
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow a Dask cluster without encryption.")
    ] = False
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Limit for kept rows.",
            show_default="half of what is free",
        ),
    ] = None

    def chosen(self) -> AbstractContextManager[None]:
        """Return the context in which rows are read."""
        from privclust import engine

        if self.insecure and self.scheduler is None:
            raise UsageError("--insecure is for a Dask cluster; add --scheduler.")
        return engine(self.scheduler, memory=self.memory, insecure=self.insecure)
