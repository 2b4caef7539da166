"""The table of CONTRIBUTING.md counts right: its walks are made on a copy, counted, and used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contract.walks import FAMILY, NAMES_OF_THE_FAMILY, WALKS, Walk

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "privclust"
LINE = re.compile(r"^\| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
_, *TABLE = LINE.findall(PAGE[PAGE.index("## What a change touches") :])
# Uses every walk in one process, since most of the time goes into imports, and says how each ended.
USE = """
import json, os, sys, traceback
said = sys.stdout
sys.stdout = sys.stderr
ended = {}
for number, (line, code) in enumerate(json.loads(sys.argv[1]).items()):
    os.mkdir(str(number))
    os.chdir(str(number))
    try:
        exec(code, {"__name__": "walk"})
        ended[line] = "done"
    except Exception:
        ended[line] = traceback.format_exc()
    os.chdir("..")
json.dump(ended, said)
"""


def line_of(walk: Walk) -> tuple[str, str]:
    """Return how many files the line of a walk counts, and which it names."""
    (found,) = [(files, which) for change, files, which in TABLE if change == walk.line]
    return found


def make(walk: Walk, package: Path) -> None:
    """Make the changes of a walk on a copy."""
    for file, before, new in walk.changes:
        place = package / file
        text = place.read_text("utf-8") if place.exists() else ""
        assert not before or text.count(before) == 1, (file, before)
        cut = text.index(before) if before else len(text)
        place.write_text(text[:cut] + new + text[cut:], "utf-8")


def make_family(package: Path) -> None:
    """Make a family out of a copy of the smallest one, and list it."""
    folder = Path(shutil.copytree(package / "bounds", package / "ranges"))
    for file in (*folder.glob("*.py"), *folder.glob("*.pyi")):
        text = file.read_text("utf-8")
        for old, new in NAMES_OF_THE_FAMILY.items():
            text = text.replace(old, new)
        file.write_text(text, "utf-8")
    make(FAMILY, package)


def use_all(package: Path, folder: Path) -> dict[str, str]:
    """Use what each walk brings, on a package; return for each "done", or what went wrong."""
    paths = os.pathsep.join([str(package.parent), str(ROOT / "tests")])
    codes = {walk.line: walk.used for walk in (*WALKS, FAMILY)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", USE, json.dumps(codes)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    ended: dict[str, str] = json.loads(done.stdout)
    return ended


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.line)
def test_a_walk_touches_the_files_that_are_said(walk):
    files, which = line_of(walk)
    touched = {file for file, _, _ in walk.changes}
    assert len(touched) == int(files)
    assert {Path(file).name for file in touched if (PACKAGE / file).exists()} <= {
        Path(name).name for name in re.findall(r"`([\w./]+)`", which)
    }


def test_every_line_of_the_table_is_walked():
    assert sorted(change for change, _, _ in TABLE) == sorted(w.line for w in (*WALKS, FAMILY))


def test_a_family_is_a_folder_and_a_line():
    files, which = line_of(FAMILY)
    assert files == "a folder, and 1 line"
    listed, *within = re.findall(r"`([\w.]+)`", which)
    assert [listed] == [file for file, _, _ in FAMILY.changes]
    assert {*within} <= {file.name for file in (PACKAGE / "bounds").iterdir()}


@pytest.mark.system
def test_what_a_walk_brings_can_be_used(tmp_path):
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "src" / "privclust"))
    for walk in WALKS:
        make(walk, copy)
    make_family(copy)
    assert {line: end for line, end in use_all(copy, tmp_path).items() if end != "done"} == {}


@pytest.mark.system
def test_without_the_walks_nothing_of_it_can_be_used(tmp_path):
    assert [line for line, end in use_all(PACKAGE, tmp_path).items() if end == "done"] == []
