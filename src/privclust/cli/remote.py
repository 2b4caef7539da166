"""``privclust remote …``: data sets on a service, from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from privclust.cli import options, screen
from privclust.cli.options import DEFAULT_EPSILON, DEFAULT_NOTICE, expand_groups
from privclust.cli.screen import PLAIN, UsageError

if TYPE_CHECKING:
    from privclust.service.remote import RemoteService


app = typer.Typer(help="Ask about data sets on a service; the rows stay there.", **PLAIN)

Url = Annotated[str, typer.Argument(metavar="URL", help="The service, or a data set on it.")]


@dataclass(frozen=True)
class QuestionOptions:
    """A question to a service, as the command line words it."""

    family: Annotated[
        str | None,
        typer.Option("--family", metavar="NAME", help="kmeans, summarise, source-target, …"),
    ] = None
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="NUMBER", help="Privacy loss.", show_default="1"),
    ] = None
    delta: Annotated[str, typer.Option("--delta", metavar="NUMBER", help="0, or as granted.")] = "0"
    clusters: Annotated[
        str | None, typer.Option("--clusters", "-k", metavar="N|auto", help="How many.")
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="A column to ask about; repeat it."),
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option: method=lloyd, or NAME=@FILE."
        ),
    ] = None
    target: Annotated[
        Path | None,
        typer.Option(
            "--target", metavar="FILE", help="Public points, one per line; source-target."
        ),
    ] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the question as the service reads it."""
        asked: dict[str, Any] = {
            "epsilon": self.epsilon or f"{DEFAULT_EPSILON:g}",
            "delta": self.delta,
        }
        more = {"family": self.family, "clusters": self.clusters, "columns": self.columns}
        asked |= {name: value for name, value in more.items() if value is not None}
        if any("=" not in option for option in self.option or ()):
            raise UsageError("An option is given as NAME=VALUE; write --option method=lloyd.")
        if self.option:
            pairs = dict(option.split("=", 1) for option in self.option)
            asked["options"] = {name: _text(value) for name, value in pairs.items()}
        return asked if self.target is None else asked | {"targets": _points(self.target)}


@app.command("datasets")
def datasets(url: Url) -> None:
    """List the data sets that you may ask about, with what is left of your budget."""
    place = f"{url.rstrip('/')}/datasets"
    _list(url, "datasets", lambda it: f"{it['name']}: {place}/{it['id']}{_print_remaining(it)}")


@app.command("plan")
@expand_groups
def plan(
    url: Url,
    question: QuestionOptions,
) -> None:
    """Show what a question would cost and achieve; nothing is spent."""
    made = _service(url).post(f"{_dataset(url)}/plan", question.to_dict())
    lines = [
        f"Cost: {made['cost']}. {made['left']}",
        made["sentence"],
        made["advice"],
        *made["notes"],
    ]
    screen.answer(made, *lines)


@app.command("ask")
@expand_groups
def ask(
    url: Url,
    question: QuestionOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="Folder, or .privclust file.")
    ] = Path("release"),
) -> None:
    """Charge a question, wait for its answer, and write the release with its report."""
    import secrets

    from privclust.cli.fit import tables
    from privclust.jobs.fit import Destination
    from privclust.service.remote import RemoteDataset

    place = Destination.check(output, report=True, overwrite=False)
    asked = question.to_dict()
    notices = [DEFAULT_NOTICE] if question.epsilon is None else []
    job = _service(url).post(f"{_dataset(url)}/jobs", asked | {"request": secrets.token_hex(16)})
    cost = "It was answered before and costs nothing" if job["free"] else "Charged"
    screen.note(f"{cost}; job {job['id']}.")
    release = RemoteDataset(url, _token()).release(job["id"])
    published = place.publish(release)
    plain = published.to_dict() | {"job": job["id"], "free": job["free"]}
    screen.answer(plain, *tables(release.facts()), "", *notices, *published.sentences)


@app.command("jobs")
def jobs(url: Url) -> None:
    """List your jobs."""
    _list(url, "jobs", lambda it: f"{it['id']}: {it['state']}, {json.dumps(it['asked'])}")


@app.command("users")
def users(
    url: Url,
    add: Annotated[str | None, typer.Option("--add", metavar="NAME", help="Add a user.")] = None,
    role: Annotated[
        str, typer.Option("--role", help="Role of a new user: analyst, auditor, steward.")
    ] = "analyst",
    reset: Annotated[
        str | None, typer.Option("--reset", metavar="NAME", help="Give a new password.")
    ] = None,
    close: Annotated[
        str | None, typer.Option("--close", metavar="NAME", help="Close the account.")
    ] = None,
    reopen: Annotated[
        str | None, typer.Option("--open", metavar="NAME", help="Open it again.")
    ] = None,
) -> None:
    """List users, or change one; needs a steward's token. A one-time password is shown once."""
    if sum(name is not None for name in (add, reset, close, reopen)) > 1:
        raise UsageError("Change one user at a time: --add, --reset, --close or --open.")
    service, made = _service(url), None
    if add is not None:
        made = service.post("/users", {"name": add, "role": role})
    elif reset is not None:
        made = service.post(f"/users/{quote(reset, safe='')}/reset", {})
    elif close is not None or reopen is not None:
        act, name = ("close", close) if close is not None else ("open", reopen)
        service.send("POST", f"/users/{quote(name or '', safe='')}/{act}", {})
    if made is not None:
        line = f"One-time password of {made['name']}, shown only once: {made['password']}"
        screen.answer(made, line)
        return
    _list(
        url,
        "users",
        lambda it: f"{it['name']}: {it['role']}{'' if it['open'] else ', closed'}",
    )


def _token() -> str:
    token = os.environ.get("PRIVCLUST_TOKEN", "")
    if not token:
        raise UsageError("Put one of your tokens into the environment as PRIVCLUST_TOKEN.")
    return token


def _service(url: str) -> RemoteService:
    from privclust.service.remote import RemoteService

    return RemoteService(url, _token())


def _list(url: str, what: str, line: Callable[[dict[str, Any]], str]) -> None:
    """Show everything of one kind that the service has for this user."""
    found = _service(url).get(f"/{what}")
    screen.answer({what: found}, *map(line, found))


def _dataset(url: str) -> str:
    _, found, dataset = url.rstrip("/").rpartition("/datasets/")
    if not found or "/" in dataset:
        raise UsageError("Give the address of a data set; 'privclust remote datasets' lists them.")
    return f"/datasets/{dataset}"


def _text(value: str) -> str:
    """Return the value of an option, or the content of the file that it names."""
    return "\n".join(options.read_lines(Path(value[1:]))) if value.startswith("@") else value


def _points(target: Path) -> list[list[float]]:
    from privclust.service.offers import targets_in

    try:
        return [
            [float(it) for it in point]
            for point in targets_in("\n".join(options.read_lines(target)))
        ]
    except ValueError:
        raise UsageError(f"'{target}' must have one point per line, in numbers.") from None


def _print_remaining(dataset: dict[str, Any]) -> str:
    return "".join(f", left: {pot['left']}" for pot in dataset.get("balance", []))
