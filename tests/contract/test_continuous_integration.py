"""No test is left out silently: what a run needs of the machine is installed, or it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from support import needed

ROOT = Path(__file__).parents[2]


def run(folder: Path, *, user: int, apt: int = 0, without: str = "") -> tuple[int, list[str], str]:
    """Run ``.ci/run`` among programs that only say they were called, on a bare machine.

    Returns its exit status, the calls, and what it said.
    """
    calls = folder / "calls"
    calls.touch()
    (folder / "bin").mkdir()
    say = f'echo "$(basename "$0") $*" >> {calls}'
    programs = {"id": f"echo {user}", "apt-get": f"{say}; exit {apt}", "make": say}
    for name, text in programs.items():
        (folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    for name in ("bash", "dirname", "basename"):
        (folder / "bin" / name).symlink_to(shutil.which(name))
    done = subprocess.run(  # noqa: S603
        [folder / "bin" / "bash", ROOT / ".ci" / "run"],
        env={"PATH": str(folder / "bin"), needed.WITHOUT: without},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, calls.read_text().splitlines(), done.stderr


def test_root_installs_what_is_missing_and_runs_the_one_command(tmp_path):
    status, (update, install, tests), _ = run(tmp_path, user=0, without="postgresql")
    assert status == 0
    assert update.endswith(" update")
    assert install.endswith(" install -y --no-install-recommends chromium")
    assert tests == "make test"


def test_what_cannot_be_installed_fails_the_run(tmp_path):
    status, calls, _ = run(tmp_path, user=0, apt=100, without="postgresql")
    assert status == 100
    assert "make test" not in calls


def test_without_root_the_run_says_what_is_missing(tmp_path):
    status, calls, said = run(tmp_path, user=1000, without="postgresql")
    assert status == 1
    assert calls == []
    assert "chromium" in said
    assert needed.WITHOUT in said


def test_a_run_may_be_told_to_do_without(tmp_path):
    assert run(tmp_path, user=1000, without="postgresql,browser") == (0, ["make test"], "")


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without either program."""
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    monkeypatch.setattr(shutil, "which", lambda _: None)


@pytest.mark.usefixtures("bare_machine")
@pytest.mark.parametrize("name", needed.PACKAGES)
def test_a_test_fails_without_its_program_and_skips_only_if_it_was_said(name, monkeypatch):
    find = getattr(needed, name)
    others = ",".join(needed.PACKAGES.keys() - {name})
    monkeypatch.setenv(needed.WITHOUT, others)
    with pytest.raises(pytest.fail.Exception, match=f"{needed.WITHOUT}={name}"):
        find()
    monkeypatch.setenv(needed.WITHOUT, f"{others},{name}")
    with pytest.raises(pytest.skip.Exception):
        find()


def test_a_program_that_nobody_knows_cannot_be_left_out(monkeypatch):
    monkeypatch.setenv(needed.WITHOUT, "postgres")
    with pytest.raises(pytest.UsageError, match="postgresql and browser"):
        needed.estimated_bias()


def test_programs_that_are_there_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    for name in ("initdb", "chromium"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert needed.postgresql() == tmp_path
    assert needed.browser() == str(tmp_path / "chromium")


def test_hooks_download_nothing_and_run_what_the_tests_run():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repo["repo"] for repo in hooks["repos"]] == ["local"]
    listed = [hook for repo in hooks["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in listed} == {"system", "pygrep"}
    programs = [hook["entry"].split() for hook in listed if hook["language"] == "system"]
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin")
    for program in programs:
        said = " ".join(word for word in program if word != "--force-exclude")
        assert f"\t{said}" in makefile
