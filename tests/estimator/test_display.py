"""Progress is shown where nothing keeps it: on a terminal, and as shares in a notebook."""

import io
from types import SimpleNamespace
from unittest.mock import patch

from rich.console import Console

import privclust
from privclust import display
from privclust.engines.choose import listener


def shown(*, notebook):
    """Return what is shown of two passes over 300 rows."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with (
        patch.object(display, "_in_notebook", lambda: notebook),
        patch.object(display, "Console", lambda **_: console),
        patch.object(display.sys, "stderr", SimpleNamespace(isatty=lambda: True)),
        privclust.progress("Counting"),
    ):
        for done in (150, 300, 60):
            listener()(done, 300)
    return screen.getvalue()


def test_a_terminal_shows_rows_and_passes():
    assert "Counting, pass 2" in shown(notebook=False)
    assert "60 rows" in shown(notebook=False)


def test_a_notebook_shows_shares_alone():
    assert "Counting, pass 2" in shown(notebook=True)
    assert "20 %" in shown(notebook=True)
    assert "rows" not in shown(notebook=True)


def test_elsewhere_nothing_is_shown(capfd):
    with privclust.progress():
        listener()(1, 2)
    assert capfd.readouterr() == ("", "")
