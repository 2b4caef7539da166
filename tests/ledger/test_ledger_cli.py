"""``privclust ledger``: what stewards and auditors see."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.cli import app
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow, Person
from support.command_line import CliRunner


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A ledger with a settled and an open charge."""
    opened = Ledger.open(tmp_path / "budget.db")
    opened.create_dataset("visits", note="stays <b>2025</b>")
    opened.grant("visits", 2)
    opened.grant("visits", 1, "1e-6", holder="Ann & Co")
    receipt = opened.reserve("visits", Budget("0.5"), AddRemoveRow(), "PrivateKMeans")
    opened.settle(receipt, "sha256:abc")
    ann = Ledger.open(opened.url, holder="Ann & Co")
    budget = Budget("0.5", "1e-6")
    ann.reserve("visits", budget, AddRemoveRow(), "PrivateKMeans", currency="zcdp")
    return opened.url


def told(*arguments: object) -> str:
    """Run a command that succeeds and return what it prints."""
    runner = CliRunner(env={"COLUMNS": "200"})
    result = runner.invoke(app, ["ledger", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refused(*arguments: object, status: int = 1) -> str:
    """Run a command that fails and return its one sentence."""
    result = CliRunner().invoke(app, ["ledger", *map(str, arguments)])
    assert result.exit_code == status
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    return sentence


def answered(*arguments: object) -> Any:
    return json.loads(told(*arguments, "--json"))


def test_create_grant_and_look(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    assert "is in the ledger" in told("create", path, "visits")
    assert "ε = 0.1" in told("grant", path, "visits", "--epsilon", "0.1")
    told("grant", path, "visits", "--epsilon", "0.2", "--note", "decision 7")
    assert "ε = 0.3" in told("balance", path)
    assert "decision 7" in told("history", path)
    assert "intact: 3 entries" in told("verify", path)
    assert told("head", path).strip() == Ledger.open(path).head().digest


def test_units_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    person = ["--unit", "person", "--id-column", "id", "--max-rows", "3"]
    assert answered("create", path, "people", *person)["unit"] == Person("id", 3).to_dict()
    as_json = '{"name": "matrix-entry", "cap": 4}'
    assert answered("create", path, "baskets", "--unit", as_json)["unit"]["cap"] == 4
    assert "--id-column" in refused("create", path, "p", "--unit", "person", status=2)
    assert "not valid JSON" in refused("create", path, "p", "--unit", "{oops")
    assert "Unknown privacy unit" in refused("create", path, "p", "--unit", "galaxy")


def test_a_machine_gets_exact_decimals(path: str) -> None:
    pure, approximate = answered("balance", path, "visits")["balance"]
    assert pure["granted"]["epsilon"] == "2"
    assert pure["left"]["epsilon"] == "1.5"
    assert approximate["granted"]["delta"] == "0.000001"
    kinds = [entry["kind"] for entry in answered("history", path)["entries"]]
    assert kinds == ["create", "grant", "grant", "charge", "settle", "charge"]
    assert answered("verify", path) == {"intact": True} | answered("head", path)
    statement = answered("statement", path, "visits")
    assert statement["granted"]["epsilon"] == "3"
    assert [charge["release"] for charge in statement["charges"]] == ["sha256:abc", None]


def test_errors_are_one_sentence_and_write_nothing(path: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    for command in (["balance"], ["history"], ["head"], ["verify"]):
        assert "There is no ledger at" in refused(*command, missing)
    assert "no data set 'visit'" in refused("balance", path, "visit")
    assert "no data set 'visit'" in refused("grant", path, "visit", "--epsilon", "1")
    assert "must be a finite number" in refused("grant", path, "visits", "--epsilon", "much")
    assert "must be above zero" in refused("grant", path, "visits", "--epsilon", "-1")
    assert "--epsilon" in refused("grant", path, "visits", status=2)
    assert "already in the ledger" in refused("create", path, "visits")
    assert "is not in it" in refused("verify", path, "--head", "0" * 64)
    page, picture = tmp_path / "page.html", tmp_path / "picture.gif"
    assert "no data set" in refused("statement", path, "visit", "-o", page)
    assert "must end in" in refused("plot", path, "visits", "-o", picture)
    assert sorted(file.name for file in tmp_path.iterdir() if "budget" not in file.name) == []
    assert len(Ledger.open(path).history()) == 6


def test_a_picture_needs_a_grant(path: str, tmp_path: Path) -> None:
    told("create", path, "people")
    sentence = refused("plot", path, "people", "-o", tmp_path / "picture.svg")
    assert "nothing to draw" in sentence
    assert not (tmp_path / "picture.svg").exists()


@pytest.mark.system
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_pictures(path: str, tmp_path: Path, suffix: str) -> None:
    picture = tmp_path / f"picture.{suffix}"
    told("plot", path, "visits", "-o", picture)
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert picture.read_bytes().startswith(begin)
    assert "--overwrite" in refused("plot", path, "visits", "-o", picture)
    told("plot", path, "visits", "-o", picture, "--overwrite")


class Page(HTMLParser):
    """Collects tags, attributes that load something, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.loaded: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loaded += [f"{tag} {name}" for name, _ in attributes if name in ("src", "href")]
        if tag not in ("meta", "br", "line", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "path"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_statement_page_stands_alone(path: str, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert "ε = 3 and δ = 1e-06" in told("statement", path, "visits", "-o", output)
    source, page = output.read_text("utf-8"), Page()
    page.feed(source)
    assert page.open == []
    assert not page.tags & {"script", "link", "img", "iframe", "b"}
    assert page.loaded == []
    assert "url(" not in source
    assert "prefers-color-scheme: dark" in source
    for words in ("stays <b>2025</b>", "Ann & Co", "sha256:abc", "ε = 3 and δ = 1e-06"):
        assert words in page.text
    assert page.text.count("Release none") == 1


def test_the_command_on_the_page_checks_it(path: str, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    told("statement", path, "visits", "-o", output)
    command = re.search(r"privclust ledger verify (\S+) --head (\w+)", output.read_text("utf-8"))
    assert command
    assert "intact" in told("verify", command[1], "--head", command[2])


def test_the_database_is_let_go_at_the_end_of_a_program(tmp_path: Path) -> None:
    """After a command everything is in the one file, ready to be copied."""
    script = (
        "from privclust.ledger import Ledger\n"
        "ledger = Ledger.open('budget.db')\n"
        "ledger.create_dataset('visits')\n"
        "ledger.grant('visits', 1)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)  # noqa: S603
    assert [file.name for file in tmp_path.iterdir()] == ["budget.db"]


def test_the_history_fits_eighty_columns(path: str) -> None:
    opened = Ledger.open(path)
    receipt = opened.reserve("visits", Budget("0.5"), AddRemoveRow(), "PrivateKMeans")
    opened.settle(receipt, f"sha256:{'0123456789abcdef' * 4}", ["The scaler was not private."])
    runner = CliRunner(env={"COLUMNS": "80"})
    lines = runner.invoke(app, ["ledger", "history", path]).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 3 * len(opened.history()), "an entry takes a line or two"
    text = " ".join(" ".join(lines).split())
    for words in (
        "Charge of ε = 0.5 on visits to everyone",
        "Charge of ε = 0.5 and δ = 1e-06 (zcdp)",
        "Release sha256:0123456789abcdef… from visits",
        "NOT PRIVATE: The scaler was not private.",
    ):
        assert words in text
    assert not re.search(r"\d\d:\d\d:\d\d", text), "the seconds would tell how long a fit ran"


def test_a_backup_and_a_kept_head(path: str, tmp_path: Path) -> None:
    backup, kept = tmp_path / "backup.db", tmp_path / "kept.json"
    assert "holds 6 entries" in told("backup", path, backup)
    assert "choose another path" in refused("backup", path, backup)
    Ledger.open(path).reserve("visits", Budget("0.5"), AddRemoveRow(), "PrivateKMeans")
    told("head", path, "-o", kept)
    assert "intact: 7 entries" in told("verify", path, "--head", kept)
    assert "ends at entry 6 and the head is entry 7" in refused("verify", backup, "--head", kept)
    digest = tmp_path / "digest.txt"
    digest.write_text(told("head", path))
    assert "older than what was kept" in refused("verify", backup, "--head", digest)
    assert "neither a digest nor" in refused("verify", path, "--head", tmp_path / "nothing")
    digest.write_bytes(b"\xff[1]")
    assert "is not the head of a ledger" in refused("verify", path, "--head", digest)


def test_a_release_shows_that_a_ledger_is_older(path: str, tmp_path: Path) -> None:
    told("backup", path, tmp_path / "backup.db")
    model = PrivateKMeans(2, epsilon=0.1, bounds=(0, 1), ledger=Ledger.open(path))
    fitted = model.set_params(dataset="visits").fit(np.random.default_rng(0).random((50, 2)))
    fitted.release().save(tmp_path / "release")
    assert "intact" in told("verify", path, "--head", tmp_path / "release")
    sentence = refused("verify", tmp_path / "backup.db", "--head", tmp_path / "release")
    assert "older than what was kept elsewhere" in sentence


def test_grants_and_keys_on_the_command_line(path: str, tmp_path: Path) -> None:
    grant = ["grant", path, "visits", "--epsilon", "1", "--delta", "1e-6"]
    assert answered(*grant, "--currency", "approximate")["pot"] == "approximate"
    assert "if and only if it has no δ" in refused(*grant, "--currency", "pure")
    assert answered("key", "add", path, "AB" * 32, "--name", "Ann")["ed25519"] == "ab" * 32
    assert "already in the ledger" in refused("key", "add", path, "ab" * 32, "--name", "Ann")
    assert "never the private one" in refused("key", "add", path, "secret", "--name", "Ann")
    assert answered("statement", path, "visits")["keys"] == [{"name": "Ann", "ed25519": "ab" * 32}]


def test_a_statement_about_a_flawed_release_is_an_alarm(path: str) -> None:
    opened = Ledger.open(path)
    receipt = opened.reserve("visits", Budget("0.5"), AddRemoveRow(), "PrivateKMeans")
    opened.settle(receipt, "sha256:f", ["The scaler was not private."])
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["ledger", "statement", path, "visits"])
    assert result.exit_code == 0
    assert "NOT PRIVATE: 1 of 3 charges" in result.stderr
    assert "together differentially private" not in result.stdout
