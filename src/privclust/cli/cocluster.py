"""``privclust cocluster`` and ``privclust plan cocluster``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options, screen
from privclust.cli.charging import charged_to
from privclust.cli.errors import UsageError
from privclust.cli.publishing import checked_place, publish

if TYPE_CHECKING:
    from privclust.coclustering import PrivateCoclustering
    from privclust.published import PrivateTauCoclustering

__all__ = ["fit", "plan"]

MatrixPath = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help=".npz or .mtx matrix; CSV or Parquet triples with --shape."
    ),
]
Rows = Annotated[int, typer.Option("--rows", min=1, help="Number of row clusters.")]
Columns = Annotated[int, typer.Option("--columns", min=1, help="Number of column clusters.")]
MatrixUnitName = Annotated[
    Literal["count", "entry", "row"],
    typer.Option("--unit", help="What is hidden: one count, one entry, or one whole row."),
]
Cap = Annotated[
    int | None, typer.Option("--cap", min=1, help="What one entry counts at most; unit entry.")
]
Method = Annotated[Literal["tables", "tau"], typer.Option("--method", help="The algorithm.")]
Shape = Annotated[
    tuple[int, int] | None,
    typer.Option("--shape", metavar="ROWS COLUMNS", help="Public shape, which triples need."),
]
Names = Annotated[
    Path | None,
    typer.Option("--names", metavar="FILE", help="Public names of the columns, one per line."),
]


def fit(
    data: MatrixPath,
    rows: Rows = 5,
    columns: Columns = 5,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: MatrixUnitName = "count",
    cap: Cap = None,
    method: Method = "tables",
    shape: Shape = None,
    names: Names = None,
    ledger: options.LedgerPlace = None,
    holder: options.Holder = None,
    dataset: options.Dataset = None,
    seed: options.Seed = None,
    output: options.ReleaseOutput = Path("release"),
    report: options.Report = True,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Co-cluster a matrix of private counts. Clusters and block totals may be published."""
    from privclust.jobs.publish import described_or_not
    from privclust.release import About

    options.check_budget(epsilon, delta)
    column_names = None if names is None else _lines(names)
    charge = charged_to(ledger, holder, dataset, data, seed)
    model = _model(
        method,
        rows,
        columns,
        epsilon=epsilon,
        delta=delta,
        unit=_unit(unit, cap),
        shape=shape,
        random_state=seed,
        **charge,
    )
    place = checked_place(output, report=report, overwrite=overwrite)
    model.fit(data)
    release = model.release()
    if column_names is not None:
        release = described_or_not(release, About(names=column_names))
    publish(place, release, as_json=as_json)


def plan(
    rows: Rows = 5,
    columns: Columns = 5,
    shape: Annotated[
        tuple[int, int],
        typer.Option("--shape", metavar="ROWS COLUMNS", help="About the shape of the matrix."),
    ] = (1000, 1000),
    row_total: Annotated[
        float, typer.Option("--row-total", min=0, help="About what a row adds up to.")
    ] = 100,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: MatrixUnitName = "count",
    cap: Cap = None,
    method: Method = "tables",
    as_json: options.Json = False,
) -> None:
    """Rehearse a co-clustering on a synthetic matrix: questions, cost, noise, error to expect."""
    model = _model(method, rows, columns, epsilon=epsilon, delta=delta, unit=_unit(unit, cap))
    made = model.plan(*shape, row_total=row_total)
    screen.answer(made.to_dict(), str(made), as_json=as_json)


def _model(
    method: str, rows: int, columns: int, **parameters: Any
) -> PrivateCoclustering | PrivateTauCoclustering:
    from privclust.coclustering import PrivateCoclustering
    from privclust.published import PrivateTauCoclustering

    chosen = PrivateCoclustering if method == "tables" else PrivateTauCoclustering
    return chosen(rows, columns, **parameters)


def _unit(name: str, cap: int | None) -> Any:
    from privclust.unit import MatrixEntry, matrix_unit_from

    if cap is not None and name != "entry":
        raise UsageError("--cap belongs to --unit entry; add it or drop the cap.")
    return matrix_unit_from(name) if cap is None else MatrixEntry(cap)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"The names in '{path}' cannot be read; give a text file.") from None
