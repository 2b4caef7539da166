"""``progress``: what a long fit is doing, for the holder of the rows.

The number of rows is private. So progress is shown on a terminal or in a notebook, and is never
logged; a notebook is saved with its output, so there only percentages are shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from privclust._lazy import loaded_module
from privclust.engines.choose import progress_listener

Tell = Callable[[int, int | None], None]


@contextmanager
def progress(what: str = "Reading") -> Iterator[None]:
    """Show the passes of the fits in this context, with the time each is expected to take.

    Parameters
    ----------
    what : str, default="Reading"
        The title of the display.
    """
    with _show(what) as tell, progress_listener(tell):
        yield


@contextmanager
def _show(what: str) -> Iterator[Tell]:
    """Yield a callback for rows done and rows in all; if the first falls, a new pass began."""
    notebook = _in_notebook()
    if not notebook and not sys.stderr.isatty():
        yield lambda done, total: None
        return
    console = Console() if notebook else Console(stderr=True)
    with Progress(*_columns(notebook), console=console, transient=True) as bars:
        bar = bars.add_task(what, total=None)
        passes, last = 1, 0

        def tell(done: int, total: int | None) -> None:
            nonlocal passes, last
            if done < last:
                passes += 1
                bars.reset(bar)
            last = done
            bars.update(bar, completed=done, total=total, description=f"{what}, pass {passes}")

        yield tell


def _columns(notebook: bool) -> list[ProgressColumn]:
    done = "{task.percentage:>3.0f} %" if notebook else "{task.completed:,} rows"
    return [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(done),
        TimeRemainingColumn(elapsed_when_finished=True),
    ]


def _in_notebook() -> bool:
    shell = loaded_module("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"
