"""``privclust audit``: look for an event that the promise of an algorithm forbids.

The neighbouring data sets are made up here from public facts; no file is read. Published algorithms
that promise what they do not keep are on the list too, so that a reader sees the auditor find one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options, screen

if TYPE_CHECKING:
    from privclust.audit import AuditReport, NeighbourPair
    from privclust.schema import Schema

__all__ = ["audit"]

Subject = Literal["kmeans", "cocluster", "categorical", "source-target", "subcluster-guarantee"]

_VIOLATED = 1
_FEWEST_ROWS = 10


def audit(
    subject: Annotated[Subject, typer.Argument(help="The algorithm under audit.")],
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    runs: Annotated[
        int, typer.Option("--runs", min=300, help="Runs on each side of each pair of data sets.")
    ] = 300,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 for one per core.")] = -1,
    as_json: options.Json = False,
) -> None:
    """Bound the privacy loss of an algorithm by experiment. The bound is one from below."""
    from privclust.audit import audit as run_audit
    from privclust.budget import Budget

    budget = Budget(epsilon, delta)
    fit, pairs = _SUBJECTS[subject](epsilon, delta)
    screen.note(f"{len(pairs)} pairs of data sets, {runs} runs on each side; more runs see more.")
    with _runs_progress(f"audit of {subject}") as progress:
        report = run_audit(fit, pairs, budget, runs, n_jobs=jobs, progress=progress)
    caveat = "A bound below the claim is no proof; the proofs are in the library's proofs folder."
    screen.answer(_document(report), str(report), caveat, as_json=as_json)
    if report.verdict == "violated":
        raise typer.Exit(_VIOLATED)


def _document(report: AuditReport) -> dict[str, Any]:
    return {
        "verdict": report.verdict,
        "epsilon": float(report.claimed.epsilon),
        "delta": float(report.claimed.delta),
        "epsilon_lower": report.epsilon_lower,
        "confidence": report.confidence,
        "witness": None if report.witness is None else _plain(asdict(report.witness)),
    }


def _plain(witness: dict[str, Any]) -> dict[str, Any]:
    """Return the witness without the ranges, which may be no numbers."""
    return {**witness, "features": list(witness["features"])}


Prepared = tuple[Any, "list[NeighbourPair]"]


def _kmeans(epsilon: float, delta: float) -> Prepared:
    from privclust import PrivateKMeans
    from privclust.audit import point_pairs

    model = PrivateKMeans(3, epsilon=epsilon, delta=delta, schema=_square())
    return model, _large(point_pairs([0, 0], [1, 1]))


def _cocluster(epsilon: float, delta: float) -> Prepared:
    from privclust import PrivateCoclustering
    from privclust.audit import matrix_pairs

    return PrivateCoclustering(2, 2, epsilon=epsilon, delta=delta), matrix_pairs(12, 8)


def _categorical(epsilon: float, delta: float) -> Prepared:
    from privclust import Categories, PrivateCategoricalKMeans, Schema
    from privclust.audit import table_pairs

    domain = {"a": ["u", "v", "w"], "b": ["no", "yes"], "c": ["no", "yes"]}
    facts = {name: Categories(values, missing="category") for name, values in domain.items()}
    model = PrivateCategoricalKMeans(3, epsilon=epsilon, delta=delta, schema=Schema(facts))
    return model, _large(table_pairs(list(domain.values())))


def _source_target(epsilon: float, delta: float) -> Prepared:
    from functools import partial

    import numpy as np

    from privclust import PrivateSourceTargetMedoids
    from privclust.audit import point_pairs

    model = PrivateSourceTargetMedoids(2, epsilon=epsilon, delta=delta, schema=_square())
    towns = np.stack(np.meshgrid(*[np.linspace(0, 1, 6)] * 2), axis=-1).reshape(-1, 2)
    return partial(_beside, model, towns), _large(point_pairs([0, 0], [1, 1]))


def _beside(model: Any, towns: Any, source: Any, rng: Any) -> Any:
    """Return what is released of a choice of centres beside a source.

    The noise comes from the operating system; ``rng`` is there to say that processes may be used.
    """
    import numpy as np
    from sklearn.base import clone

    found = clone(model).fit(towns, source=source)
    return np.append(found.medoid_indices_, [found.cost_estimate_, *found.served_by_source_])


def _subcluster_guarantee(epsilon: float, delta: float) -> Prepared:
    from functools import partial

    import numpy as np

    from privclust.audit import NeighbourPair

    halves = np.repeat([[-1.0], [1.0]], 100, axis=0)
    pair = NeighbourPair("one more point", halves, np.append(halves, [[0.5]], axis=0))
    return partial(_published_centre, epsilon), [pair]


def _published_centre(epsilon: float, rows: Any, rng: Any) -> Any:
    from privclust.reference import SubclusterGuarantee

    seed = int(rng.integers(2**31))
    return SubclusterGuarantee(1, epsilon=epsilon, random_state=seed).fit(rows).cluster_centers_


def _square() -> Schema:
    from privclust import Box, Schema

    return Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})


def _large(pairs: list[NeighbourPair]) -> list[NeighbourPair]:
    """Leave out pairs with hardly a row; data without any are refused, as the proofs say."""
    return [pair for pair in pairs if len(pair.left) >= _FEWEST_ROWS]


@contextmanager
def _runs_progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show on a terminal how many runs are done, and how long the others will take."""
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


_SUBJECTS = {
    "kmeans": _kmeans,
    "cocluster": _cocluster,
    "categorical": _categorical,
    "source-target": _source_target,
    "subcluster-guarantee": _subcluster_guarantee,
}
