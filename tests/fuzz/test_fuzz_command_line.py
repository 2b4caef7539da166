"""The command line answers any arguments with a result or with one sentence, never a traceback.

A few argument lists in every run; ``PRIVCLUST_FUZZ=10000`` tries so many, as ``make fuzz`` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from typer.main import get_command

from privclust import Bins, Box, Categories, PrivateKMeans, Schema
from privclust.cli.commands import app
from support.command_line import CliRunner

INPUTS = int(os.environ.get("PRIVCLUST_FUZZ", "40"))
PARTS = 10

# Fits and audits that are meant to take long are left out: a right command is tested elsewhere.
LEFT_OUT = {"demo", "audit"}
FILES = [
    *("data.csv", "words.csv", "triples.csv", "a.npz", "release", "schema.toml", "words.toml"),
    *("torn.parquet", "torn.privclust", "empty.csv", "absent.csv", "folder", "new", "new.html"),
    *("new.toml", "new.csv", "new.privclust", "budget.db", "key", "key.pub", "absent/new", "/"),
]
TEXTS = [
    *("", " ", "-", "--", "-1", "0", "1", "2", "3", "0.5", "1e-6", "1e999", "nan", "inf", "-0.0"),
    *("x", "y", "data", "person", "count", "entry", "row", "cosine", "haversine", "everyone"),
    *("é", "ε", "\n", "a\tb", "\x01", "%s", "{}", '{"name": 1}', "[]", "*", "?", "a" * 5000),
    *("99999999999999999999", "100000000", "٣", "0x10", "text", "number", "utf-16", ";", ",,"),
    *("\ud800", "postgresql://127.0.0.1:1/none", "sqlite://", "0" * 64, "lloyd", "nna", "tau"),
]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if name in LEFT_OUT:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = [*commands(get_command(app))]
SENSIBLE = {
    "data": ["data.csv", "words.csv", "a.npz", "triples.csv"],
    "schema": ["schema.toml", "words.toml"],
    "source": ["data.csv"],
    "target": ["data.csv"],
    "column": ["x"],
    "release": ["release"],
    "ledger": ["budget.db"],
    "output": ["new", "new.html", "new.csv", "new.privclust"],
    "unit": ["person", "row", "replace-row"],
    "id_column": ["y"],
    "key": ["key"],
}


def value(chance: Random, name: str) -> str:
    kind = chance.random()
    if name in SENSIBLE and kind < 0.7:
        return chance.choice(SENSIBLE[name])
    return chance.choice(FILES) if kind < 0.8 else chance.choice(TEXTS)


def arguments(chance: Random) -> list[str]:
    """Return a command with some of its own options, in any order, with any values."""
    path, command = chance.choice(COMMANDS)
    made: list[list[str]] = []
    for parameter in command.params:
        wanted = 0.95 if parameter.required or parameter.name == "schema" else 0.15
        if parameter.name == "help" or chance.random() > wanted:
            continue
        values = [value(chance, parameter.name) for _ in range(max(1, parameter.nargs))]
        if parameter.param_type_name == "argument":
            made.append(values)
        elif getattr(parameter, "is_flag", False):
            made.append([chance.choice(parameter.opts + parameter.secondary_opts)])
        else:
            made.append([chance.choice(parameter.opts), *values])
    if chance.random() < 0.3:
        chance.shuffle(made)
    if chance.random() < 0.1:
        made.append([chance.choice(TEXTS)])
    return [*path, *(text for part in made for text in part)]


@pytest.fixture
def cluttered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a little of everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("uvicorn.run", lambda *given, **options: None)  # serve would not end
    rows = np.random.default_rng(0).uniform(0, 10, (40, 2)).round()
    np.savetxt("data.csv", rows, "%d", ",", header="x,y", comments="")
    Path("words.csv").write_text("x,y\n" + "a,1\nb,2\nq,\n" * 5)
    Path("triples.csv").write_text("row,column,count\n0,1,2\n1,0,3\n")
    sparse.save_npz("a.npz", sparse.csr_array(np.arange(12).reshape(4, 3)))
    schema = Schema({"x": Box(0, 10), "y": Box(0, 10)})
    Path("schema.toml").write_text(schema.to_toml())
    words = {"x": Categories(["a", "b"], unknown="other"), "y": Bins([0, 1, 9], missing="category")}
    Path("words.toml").write_text(Schema(words).to_toml())
    PrivateKMeans(2, schema=schema).fit(rows).release().save("release")
    Path("torn.parquet").write_bytes(b"PAR1")
    Path("torn.privclust").write_bytes(b"PK")
    Path("empty.csv").write_text("")
    Path("folder").mkdir()
    return tmp_path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_any_arguments_are_answered_without_a_traceback(cluttered: Path, part: int) -> None:
    for number in range(part, INPUTS, PARTS):
        given = arguments(Random(number))
        result = CliRunner().invoke(app, given, prog_name="privclust")
        answered = result.exception is None or isinstance(result.exception, SystemExit)
        assert answered, (number, given, repr(result.exception))
        assert result.exit_code in (0, 1, 2), (number, given, result.output)
        lines = [line for line in result.stderr.splitlines() if line.startswith("Error:")]
        assert len(lines) <= 1, (number, given, result.stderr)
        assert "Traceback" not in result.output, (number, given)
