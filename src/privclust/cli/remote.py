"""``privclust remote …``: data sets on a service, from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli import options, screen
from privclust.cli.errors import PLAIN, UsageError

if TYPE_CHECKING:
    from privclust.service.remote import RemoteService

__all__ = ["app"]

app = typer.Typer(help="Ask data sets on a service; rows stay there.", **PLAIN)

Url = Annotated[str, typer.Argument(metavar="URL", help="Of the service, or of a data set on it.")]
Family = Annotated[str, typer.Option("--family", help="kmeans, summarise, categorical, distances.")]
Epsilon = Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="Privacy loss.")]
Delta = Annotated[str, typer.Option("--delta", metavar="NUMBER", help="0, or as granted.")]
Clusters = Annotated[int | None, typer.Option("--clusters", "-k", min=1, help="How many.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="NAME", help="One of those asked about.")
]


@app.command("datasets")
def datasets(url: Url, as_json: options.Json = False) -> None:
    """List the data sets that you may ask, with what is left of your budget."""
    found = _service(url).get("/datasets")
    lines = [f"{it['name']}: {url.rstrip('/')}/datasets/{it['id']}{_left(it)}" for it in found]
    screen.answer({"datasets": found}, *lines, as_json=as_json)


@app.command("plan")
def plan(
    url: Url,
    family: Family = "kmeans",
    epsilon: Epsilon = "1",
    delta: Delta = "0",
    clusters: Clusters = None,
    columns: Columns = None,
    as_json: options.Json = False,
) -> None:
    """Say what a question would cost and achieve; nothing is spent."""
    asked = _asked(family, epsilon, delta, clusters, columns)
    made = _service(url).post(f"{_dataset(url)}/plan", asked)
    lines = [f"Cost: {made['cost']}. {made['left']}", made["sentence"], made["advice"]]
    screen.answer(made, *lines, as_json=as_json)


@app.command("ask")
def ask(
    url: Url,
    family: Family = "kmeans",
    epsilon: Epsilon = "1",
    delta: Delta = "0",
    clusters: Clusters = None,
    columns: Columns = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="Folder, or .privclust file.")
    ] = Path("release"),
    as_json: options.Json = False,
) -> None:
    """Charge a question, wait for its answer, and write the release with its report."""
    import secrets

    from privclust.jobs.publish import Place
    from privclust.service.remote import RemoteDataset

    place = Place.checked(output, report=True, overwrite=False)
    asked = _asked(family, epsilon, delta, clusters, columns)
    job = _service(url).post(f"{_dataset(url)}/jobs", asked | {"request": secrets.token_hex(16)})
    cost = "It was answered before and costs nothing" if job["free"] else "Charged"
    screen.note(f"{cost}; job {job['id']}.")
    release = RemoteDataset(url, _token()).release(job["id"])
    published = place.publish(release)
    screen.answer(published.to_dict(), *published.sentences, as_json=as_json)


@app.command("jobs")
def jobs(url: Url, as_json: options.Json = False) -> None:
    """List your jobs."""
    found = _service(url).get("/jobs")
    lines = [f"{it['id']}: {it['state']}, {json.dumps(it['asked'])}" for it in found]
    screen.answer({"jobs": found}, *lines, as_json=as_json)


def _token() -> str:
    token = os.environ.get("PRIVCLUST_TOKEN", "")
    if not token:
        raise UsageError("Put a token of yours into the environment as PRIVCLUST_TOKEN.")
    return token


def _service(url: str) -> RemoteService:
    from privclust.service.remote import RemoteService

    return RemoteService(url, _token())


def _dataset(url: str) -> str:
    _, found, dataset = url.rstrip("/").rpartition("/datasets/")
    if not found or "/" in dataset:
        raise UsageError("Give the address of a data set; 'privclust remote datasets' lists them.")
    return f"/datasets/{dataset}"


def _asked(
    family: str, epsilon: str, delta: str, clusters: int | None, columns: list[str] | None
) -> dict[str, Any]:
    asked: dict[str, Any] = {"family": family, "epsilon": epsilon, "delta": delta}
    asked |= {} if clusters is None else {"clusters": clusters}
    return asked | ({"columns": columns} if columns else {})


def _left(dataset: dict[str, Any]) -> str:
    return "".join(f", left: {pot['left']}" for pot in dataset.get("balance", []))
