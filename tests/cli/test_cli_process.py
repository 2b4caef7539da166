"""The command line as a process of its own: how it starts, what it prints where; and the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privclust import __version__
from privclust.release.release import Release
from support.command_line import Run

FIT = (
    "-m",
    "privclust",
    "kmeans",
    "data.csv",
    "--schema",
    "schema.toml",
    "--clusters",
    "3",
    "--json",
)

# The package's own start is left out: what is tested is what the command line adds to it.
_STARTS_LIGHT = """
import importlib.util, sys, types
package = types.ModuleType("privclust")
package.__path__ = importlib.util.find_spec("privclust").submodule_search_locations
sys.modules["privclust"] = package
from privclust.cli import app
try:
    app(args=["--help"], prog_name="privclust")
finally:
    heavy = {"sklearn", "scipy", "pyarrow", "matplotlib", "jinja2", "numpy"} & set(sys.modules)
    print(sorted(heavy), file=sys.stderr)
"""


def process(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)  # noqa: S603


def test_help_imports_nothing_heavy() -> None:
    result = process("-c", _STARTS_LIGHT)
    assert "kmeans" in result.stdout
    assert result.stderr == "[]\n"


def test_the_version_is_told(run: Run) -> None:
    assert run("--version").stdout == f"privclust {__version__}\n"


def test_without_a_command_help_is_shown(run: Run) -> None:
    result = run()
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: privclust")


def test_a_process_writes_json_to_stdout_alone(folder: Path) -> None:
    result = process(*FIT)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["digest"] == Release.load("release").digest


def test_a_process_that_fails_has_no_traceback(folder: Path) -> None:
    result = process(*FIT, "--epsilon", "0")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "Error: epsilon must be above zero, got 0.0.\n"


def test_a_terminal_without_greek_letters_shows_the_rest(folder: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = process(*FIT[:-1], "--no-report", env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert "differentially private with ? = 1" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals exist on POSIX systems only")
def test_progress_is_shown_on_a_terminal_only(folder: Path) -> None:
    reader, terminal = os.openpty()
    command = [sys.executable, *FIT, "--no-report"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal) as running:  # noqa: S603
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(reader, 4096):
                shown += part
        except OSError:  # how Linux tells the end of a pseudo-terminal
            pass
        assert running.stdout is not None
        json.loads(running.stdout.read())
    os.close(reader)
    assert b"Reading, pass" in shown
    assert b"A fit within" in shown


def test_the_demo_goes_all_the_way_and_can_be_repeated(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(": demo-release/release/report.html\n")
    for group in ("sick children", "day surgery", "frail and old", "chronic illness"):
        assert group in result.stdout
    first = Release.load("demo-release/release")
    assert first.privacy.private
    places = json.loads(run("demo", "--json").stdout)
    again = Release.load(places["release"])
    assert again != first
    labels = np.loadtxt(places["labels"], skiprows=1)
    assert len(labels) == 1000
    assert Path(places["report"]).is_file()
