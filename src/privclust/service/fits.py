"""From a question to a fit: to the rows, to made-up data, or as far as its charge and no further.

*Why this is private.* Whatever a fit refuses before its charge, it refuses by public facts alone.
So it is tried on made-up data first, and a question that could not be answered is never charged.
"""

from __future__ import annotations

import warnings
from typing import Any

from privclust.jobs.fit import Fit, sentence_of
from privclust.service.declared import Counts, Declared, places
from privclust.service.errors import ServiceError
from privclust.service.offers import offers_for
from privclust.service.questions import FitQuestion
from privclust.unit import Unit

_FEW = 20
_NO_TARGETS = "Give the public points among which new centres are chosen, one per line."


def fit_for(question: FitQuestion, declared: Declared, unit: Unit, data: Any, **shared: Any) -> Fit:
    """Return the fit that answers a question, ready to run.

    ``**shared``: further parameters of the estimator, such as its ledger.
    """
    model = question.model(declared, unit, **shared)
    if not question.offer.takes_targets:
        return Fit(model, data)
    return Fit(model, _places(question, declared), {"source": data, **question.fit_arguments})


def synthetic_fit(
    question: FitQuestion, declared: Declared, unit: Unit, n_rows: int, **shared: Any
) -> Fit:
    """Return the fit of a question to data made up from what is declared."""
    from privclust.clustering.plan import with_plain_numbers

    if not isinstance(declared, Counts):
        declared = with_plain_numbers(declared.only(question.columns))
    clusters = question.clusters if isinstance(question.clusters, int) else 8
    rows = question.offer.rows(declared, clusters, n_rows, unit)
    return fit_for(question, declared, unit, rows, **shared)


def mock_data(declared: Declared, unit: Unit, n_rows: int) -> tuple[str, bytes]:
    """Return data made up from what is declared, as a name and a file, to try programs on."""
    import io

    rows = offers_for(declared)[0].rows(declared, 5, n_rows, unit)
    file = io.BytesIO()
    if isinstance(declared, Counts):
        import scipy.sparse

        scipy.sparse.save_npz(file, scipy.sparse.csr_array(rows))
        return "mock.npz", file.getvalue()
    import pyarrow.csv

    for place, name in enumerate(rows.column_names):
        written = _as_written(rows[name], declared.columns.get(name))
        rows = rows.set_column(place, name, written)
    pyarrow.csv.write_csv(rows, file)
    return "mock.csv", file.getvalue()


def _as_written(column: Any, fact: Any) -> Any:
    """Return a column as a file has it: dates and times are kept as days since 1970."""
    import numpy as np

    if getattr(fact, "form", "") not in ("date", "time"):
        return column
    seconds = (86400 * column.to_numpy()).astype("int64").astype("datetime64[s]")
    return [np.datetime_as_string(seconds, unit="D" if fact.form == "date" else "s").tolist()]


def plan_of(question: FitQuestion, declared: Declared, unit: Unit, most_rows: int) -> Any:
    """Return the plan of a question; what cannot be planned is refused in one sentence."""
    targets = _places(question, declared) if question.offer.takes_targets else None
    try:
        # The fit will be charged, and a plan may differ for one that is not.
        model = question.model(declared, unit, ledger=DryRunLedger(), dataset="made up")
        return question.offer.plan(model, declared, most_rows, targets)
    except ValueError as error:
        raise ServiceError(sentence_of(error)) from None


def check_question(question: FitQuestion, declared: Declared, unit: Unit) -> None:
    """Raise, before anything is charged, if no fit could answer the question."""
    if question.offer.takes_targets and question.targets is None:
        raise ServiceError(_NO_TARGETS)
    tried = synthetic_fit(question, declared, unit, _FEW, ledger=DryRunLedger(), dataset="made up")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tried.model.fit(tried.data, **tried.beside)
        except DryRunDoneError:
            return
        except ValueError as error:
            raise ServiceError(sentence_of(error)) from None


class DryRunDoneError(Exception):
    """The fit came as far as its charge."""


class DryRunLedger:
    """A ledger that ends a fit when it would be charged."""

    def reserve(self, *_: Any, **__: Any) -> str:
        """End the fit."""
        raise DryRunDoneError


def _places(question: FitQuestion, declared: Declared) -> Any:
    """Return the public points as a table with the names of the columns."""
    import numpy as np
    import pyarrow as pa

    assert not isinstance(declared, Counts)  # noqa: S101  # a matrix takes no points
    chosen = declared.only(question.columns)
    points = places(chosen) if question.targets is None else np.array(question.targets)
    return pa.table({name: points[:, place] for place, name in enumerate(question.columns)})
