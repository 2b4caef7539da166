"""What the tests of the command line share: rows in three clumps, and how a command is run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from typer.main import get_command
from typer.testing import CliRunner as TyperRunner

from privclust import Box, Schema

SCHEMA = Schema({"x": Box(0, 10), "y": Box(0, 10)})
CENTRES = np.array([[1.0, 1.0], [8.0, 2.0], [5.0, 9.0]])

Run = Callable[..., Any]

# All commands are made of their functions once; that takes longer than most of them run.
command_of = cache(get_command)


class CliRunner(TyperRunner):
    """Typer's runner, which would make all commands anew for every one that is run."""

    def invoke(self, app: Any, *arguments: Any, **options: Any) -> Any:
        """Run a command of an app in this process."""
        with patch("typer.testing._get_command", command_of):
            return super().invoke(app, *arguments, **options)


def clumps(rows: int) -> np.ndarray[Any, Any]:
    """Return rows in three clumps."""
    rng = np.random.default_rng(0)
    return CENTRES[rng.integers(3, size=rows)] + 0.3 * rng.standard_normal((rows, 2))


def write_csv(path: Path, rows: np.ndarray[Any, Any]) -> None:
    """Write rows under the names x and y."""
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
