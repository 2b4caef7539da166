"""Mistakes that people make, and for each the sentence that names the cure.

The tables are ``mistakes_in_python.txt`` and ``mistakes_at_the_terminal.txt``: a line with what
somebody wrote, and an indented one with the cure. Every answer is one sentence that ends with it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privclust
from privclust.cli.commands import app
from privclust.schema import Csv
from support.command_line import CliRunner

pytestmark = pytest.mark.filterwarnings("ignore")  # what matters here is how it ends
HERE = Path(__file__).parent
FILES = {
    "ok.csv": "x,y\n1,2\n3,4\n5,6\n",
    "de.csv": "x;y\n1.200,50;3\n800,25;4\n",
    "comma.csv": "x;y\n1,5;3\n2,5;4\n",
    "us.csv": 'x,y\n"1,234",3\n"2,500",4\n',
    "percent.csv": "x,y\n45%,3\n50%,4\n",
    "dates.csv": "x,day\n1,31.12.2024\n2,01.02.2024\n",
    "usdates.csv": "x,day\n1,12/31/2024\n2,02/13/2024\n",
    "words.csv": "x,c\n1,ja\n2,nein\n",
    "index.csv": ",x,y\n0,1,2\n1,3,4\n",
    "case.csv": "X,y\n1,2\n3,4\n",
    "extra.csv": "x,y,name\n1,2,a\n3,4,b\n",
    "gap.csv": "x,y\n1,2\n,4\n",
    "inf.csv": "x,y\n1,2\ninf,4\n",
    "twice.csv": "x,x\n1,2\n",
    "nohead.csv": "1,2\n3,4\n",
    "ragged.csv": "x,y\n1,2\n3\n",
    "empty.csv": "",
    "header.csv": "x,y\n",
    "ids.csv": "x,y,who\n1,2,a\n3,4,\n",
    "codes.csv": "x,c\n1,1.0\n2,2.0\n",
    "data.txt": "x,y\n1,2\n",
    "torn.parquet": "PAR1",
    "torn.xlsx": "PK",
    "s.toml": "[columns.x]\nlow=0\nhigh=10\n[columns.y]\nlow=0\nhigh=10\n",
    "half.toml": "[columns.x]\nlow=0\n",
    "broken.toml": "[columns.x\n",
    "typo.toml": "[columns.x]\nlow=0\nhihg=1\n",
    "swap.toml": "[columns.x]\nlow=1\nhigh=0\n",
    "two.toml": "[columns.x]\nlow=0\nhigh=1\nvalues=[1]\n",
    "none.toml": "note='x'\n",
    "empty.toml": "[columns]\n",
    "s.yaml": "columns: {}\n",
    "day.toml": "[columns.x]\nlow=0\nhigh=10\n[columns.day]\nlow=2020-01-01\nhigh=2024-12-31\n",
    "words.toml": "[columns.x]\nlow=0\nhigh=10\n[columns.c]\nvalues=[false,true]\n",
    "texts.toml": "[columns.x]\nlow=0\nhigh=10\n[columns.c]\nvalues=['a','b']\n",
    "codes.toml": "[columns.x]\nlow=0\nhigh=10\n[columns.c]\nvalues=['1','2']\n",
    "wide.toml": "[columns.x]\nlow=0\nhigh=10\nmissing=50\n",
    "format.toml": "[columns.x]\nlow=2020-01-01\nhigh=2021-01-01\nformat='%d.%m'\n",
    "cp.csv": "x,größe\n1,ä\n".encode("cp1252"),
    "cp2.csv": b"x,c\n1,\xe4\n",
    "utf16.csv": b"\xff\xfex",
}


def mistakes(name):
    """Return what was written, and the cure, for each mistake of a table."""
    pairs = [pair.split("\n    ") for pair in (HERE / name).read_text("utf-8").split("\n\n")]
    return [(written.strip(), cure.strip()) for written, cure in pairs]


PYTHON, TERMINAL = map(mistakes, ("mistakes_in_python.txt", "mistakes_at_the_terminal.txt"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of files of which most are wrong in one way."""
    made = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (made / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return made


@pytest.fixture(scope="module")
def names():
    """What the mistakes in Python speak of: K makes a model, M is a fitted one."""
    X = np.random.default_rng(0).uniform(0, 1, (50, 2))
    F = pd.DataFrame(X, columns=["x", "y"])
    S = privclust.Schema({"x": privclust.Box(0, 1), "y": privclust.Box(0, 1)})
    facts = {"a": privclust.Categories(["u", "v"]), "b": privclust.Categories(["no", "yes"])}

    def K(k=2, **options):  # noqa: N802
        return privclust.PrivateKMeans(k, **{"schema": S, **options})

    known = {name: getattr(privclust, name) for name in privclust.__all__}
    return known | {
        "X": X, "F": F, "S": S, "K": K, "M": K(random_state=0).fit(F), "Csv": Csv,
        "T": pd.DataFrame({"a": ["u", "v"] * 10, "b": ["no", "yes"] * 10}),
        "CS": privclust.Schema(facts), "C": np.ones((4, 3), int),
        "np": np, "pd": pd, "pl": pl, "pa": pa,
    }  # fmt: skip


def is_one_sentence(text):
    """Tell whether a message is a line that ends with a full stop and holds no other."""
    return text.endswith(".") and "\n" not in text and ". " not in text


@pytest.mark.parametrize(("written", "cure"), PYTHON)
def test_a_mistake_in_python_is_told_its_cure(written, cure, names, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises((ValueError, TypeError)) as told:
        eval(written, dict(names))  # noqa: S307  # from the table beside this file
    assert str(told.value).endswith(cure)
    assert is_one_sentence(str(told.value).replace("such as . ", "").replace("one of . ", ""))


@pytest.mark.parametrize(("written", "cure"), TERMINAL)
def test_a_mistake_at_the_terminal_is_told_its_cure(written, cure, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    result = CliRunner().invoke(app, shlex.split(written), prog_name="privclust")
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    assert (result.stderr or result.stdout).strip().endswith(cure)
    assert sorted(folder.iterdir()) == before


def test_there_are_two_hundred_of_them_and_none_twice():
    written = [line for line, _ in (*PYTHON, *TERMINAL)]
    assert len(written) == len(set(written)) >= 200
