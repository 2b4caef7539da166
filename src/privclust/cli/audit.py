"""``privclust audit``: look for an event that the promise of an algorithm forbids.

The neighbouring data sets are made here from public facts; no file is read. Published algorithms
that break their promise are on the list too, so that a reader sees the auditor find one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import screen
from privclust.cli.inputs import tasks_of
from privclust.cli.options import EpsilonDelta, expand_groups
from privclust.families import FAMILIES

if TYPE_CHECKING:
    from privclust.audit.auditor import AuditReport
    from privclust.audit.neighbours import NeighbourPair
    from privclust.budget import Budget


_VIOLATED = 1
_FEWEST_ROWS = 10
# The synthetic columns of audited models.
_SQUARE = ("x", "y")
_DOMAIN = {"a": ["u", "v", "w"], "b": ["no", "yes"], "c": ["no", "yes"]}

Prepared = tuple[Any, "list[NeighbourPair]"]


def _subcluster_guarantee(epsilon: float, delta: float) -> Prepared:
    import numpy as np

    from privclust.audit.neighbours import NeighbourPair

    halves = np.repeat([[-1.0], [1.0]], 100, axis=0)
    pair = NeighbourPair("one more point", halves, np.append(halves, [[0.5]], axis=0))
    return partial(_first_centre, epsilon), [pair]


def _first_centre(epsilon: float, rows: Any, rng: Any) -> Any:
    from privclust.papers.zones.published import SubclusterGuarantee

    seed = int(rng.integers(2**31))
    return SubclusterGuarantee(1, epsilon=epsilon, random_state=seed).fit(rows).cluster_centers_


# Published algorithms that break their promise.
_NOT_PRIVATE = {"subcluster-guarantee": _subcluster_guarantee}
SUBJECTS = (*(family.command for family in FAMILIES), *_NOT_PRIVATE)

if TYPE_CHECKING:
    Subject = str
else:
    Subject = Annotated[Literal[SUBJECTS], typer.Argument(help="The algorithm under audit.")]


@expand_groups
def audit(
    subject: Subject,
    budget: EpsilonDelta,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=300, help="Watch outputs, in this many runs on each side."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 for one per core.")] = -1,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Add up what the answers of one fit tell; without --runs."),
    ] = False,
) -> None:
    """Add up what all answers of a fit tell, exactly; with --runs, watch its outputs."""
    from privclust.audit.auditor import audit as run_audit
    from privclust.budget import Budget

    parameters = budget.parameters()
    claimed = Budget(**parameters)
    fit, pairs = audit_subject(subject, **parameters)
    if exact or runs is None:
        _replay(subject, fit, pairs, claimed)
        return
    screen.note(f"{len(pairs)} pairs of data sets, {runs} runs on each side; more runs see more.")
    with _runs_progress(f"audit of {subject}") as progress:
        report = run_audit(fit, pairs, claimed, runs, n_jobs=jobs, progress=progress)
    caveat = "A bound below the claim is not a proof; the library's folder proofs has the proofs."
    screen.answer(_document(report), str(report), caveat)
    _end_by(report.verdict)


def _replay(subject: str, fit: Any, pairs: list[NeighbourPair], claimed: Budget) -> None:
    """Show the pair whose answers tell most."""
    from privclust.audit.conformance import replay

    noise: Literal["numpy", "privclust"] = "numpy" if subject in _NOT_PRIVATE else "privclust"
    reports = {
        pair.name: replay(fit, pair.left, pair.right, claimed, noise=noise, unit=pair.unit)
        for pair in pairs
    }
    worst, report = max(reports.items(), key=lambda item: (bool(item[1].faults), item[1].epsilon))
    found = report.epsilon if math.isfinite(report.epsilon) else None
    document = {
        "verdict": report.verdict,
        "epsilon": float(claimed.epsilon),
        "delta": float(claimed.delta),
        "epsilon_found": found,
        "pairs": len(pairs),
        "pair": worst,
        "faults": list(report.faults),
    }
    screen.answer(document, f"{len(pairs)} pairs; the one that tells most: {worst}", str(report))
    _end_by(report.verdict)


def _end_by(verdict: str) -> None:
    if verdict == "violated":
        raise typer.Exit(_VIOLATED)


def _document(report: AuditReport) -> dict[str, Any]:
    return {
        "verdict": report.verdict,
        "epsilon": float(report.claimed.epsilon),
        "delta": float(report.claimed.delta),
        "epsilon_lower": report.epsilon_lower,
        "epsilon_most": report.epsilon_most,
        "confidence": report.confidence,
        "witness": None if report.witness is None else _plain(asdict(report.witness)),
    }


def _plain(witness: dict[str, Any]) -> dict[str, Any]:
    """Return the witness without the ranges, which may not be numbers."""
    return {**witness, "features": list(witness["features"])}


def audit_subject(subject: str, epsilon: float, delta: float) -> Prepared:
    """Return what is audited, and the pairs of neighbours it is run on."""
    if subject in _NOT_PRIVATE:
        return _NOT_PRIVATE[subject](epsilon, delta)
    task = tasks_of(subject)[0]
    facts, pairs = _synthetic_neighbours(task.takes)
    model = task.model(**task.audited, **facts, epsilon=epsilon, delta=delta)
    fit = partial(_fit_source, model) if task.takes == "targets" else model
    # Data without rows are refused, as the proofs say; pairs with almost no rows are left out.
    return fit, [pair for pair in pairs if pair.left.shape[0] >= _FEWEST_ROWS]


def _synthetic_neighbours(takes: str) -> tuple[dict[str, Any], list[NeighbourPair]]:
    """Return what to declare of the data a task takes, and pairs of neighbours."""
    from privclust.audit.neighbours import matrix_pairs, point_pairs, table_pairs
    from privclust.schema.facts import Box, Categories
    from privclust.schema.schema import Schema

    if takes == "matrix":
        return {}, matrix_pairs(12, 8)
    if takes == "categories":
        facts = {name: Categories(values, missing="category") for name, values in _DOMAIN.items()}
        return {"schema": Schema(facts)}, table_pairs([*_DOMAIN.values()])
    square = Schema({name: Box(0, 1, missing=0.5) for name in _SQUARE})
    return {} if takes == "forms" else {"schema": square}, point_pairs([0, 0], [1, 1])


def _fit_source(model: Any, source: Any, rng: Any) -> Any:
    """Return what is released about centres for a source, among public towns on a lattice."""
    import numpy as np
    from sklearn.base import clone

    towns = np.stack(np.meshgrid(*[np.linspace(0, 1, 6)] * 2), axis=-1).reshape(-1, 2)
    seeded = clone(model).set_params(random_state=int(rng.integers(2**31)))
    found = seeded.fit(towns, source=source)
    return np.append(found.medoid_indices_, [found.cost_estimate_, *found.served_by_source_])


@contextmanager
def _runs_progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show on a terminal how many runs are done, and the time the others will take."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs, to go"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
