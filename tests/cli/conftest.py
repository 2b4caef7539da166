"""Fixtures of the command line: a working folder with data, a release, a way to run commands."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from privclust import PrivateKMeans
from privclust.cli.commands import app
from support.command_line import SCHEMA, CliRunner, Run, clumps, write_csv


@pytest.fixture(autouse=True)
def _blank_pictures(blank_pictures: None) -> None:
    """Commands write reports; what is drawn there is tested elsewhere."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with private rows and their schema."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "data.csv", clumps(900))
    (tmp_path / "schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


@pytest.fixture(scope="session")
def a_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that is made once; do not change it."""
    model = PrivateKMeans(3, epsilon=100, schema=SCHEMA).fit(clumps(900))
    return model.release().save(tmp_path_factory.mktemp("made") / "release")


@pytest.fixture
def released(folder: Path, a_release: Path) -> Path:
    """The working folder with a release in it."""
    shutil.copytree(a_release, folder / "release")
    return folder


@pytest.fixture
def run() -> Run:
    """Run a command in this process and return its result."""

    def invoke(*arguments: object) -> Any:
        texts = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, texts, prog_name="privclust")

    return invoke
