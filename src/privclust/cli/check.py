"""``privclust check``: the steward's pass over the rows, without a charge and NOT PRIVATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from privclust.cli import options, screen
from privclust.cli.errors import REFUSED, UsageError
from privclust.cli.groups import takes_groups
from privclust.cli.reading import Reading

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.steward.check_report import CheckReport

__all__ = ["check"]


@takes_groups
def check(
    data: options.DataPaths,
    reading: Reading,
    schema: options.SchemaPath = None,
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    as_json: options.Json = False,
) -> None:
    """Count what a fit would meet in the rows. NOT PRIVATE: for the steward's eyes only."""
    if schema is None:
        raise UsageError("Give --schema FILE, which says what the columns may hold.")
    if max_rows is not None and id_column is None:
        raise UsageError("--max-rows counts rows of a person; add --id-column NAME.")
    declared = reading.schema(schema)
    with screen.rows_progress("Checking"):
        report = declared.check(options.one_or_many(data), id_column=id_column, max_rows=max_rows)
    _show(report, as_json=as_json)
    if report.problems:
        raise typer.Exit(REFUSED)


def _show(report: CheckReport, *, as_json: bool) -> None:
    from privclust.steward.check_report import NOT_PRIVATE

    if not as_json:
        screen.show(NOT_PRIVATE)
    screen.answer(report.to_dict(), "", _table(report), "", *report.summary(), as_json=as_json)


def _table(report: CheckReport) -> Table:
    from rich.table import Table

    heading, *lines = report.table()
    table = Table(*heading, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    return table
