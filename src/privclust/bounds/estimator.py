"""``PrivateBounds``: a schema from private rows, paid for as a question of its own.

Every rule of the schema is total: about the median of a column, by the noisy counts, stands for a
missing number, so that no row can make a later fit fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import Tags

from privclust.bounds.find import BoundsResult, Range, ask_bounds
from privclust.bounds.plan import WIDTH, synthetic
from privclust.bounds.task import BOUNDS
from privclust.budget import Budget
from privclust.data.numbers.public import ColumnForm, forms_of
from privclust.data.numbers.view import NumberRows
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, missing_notes
from privclust.opening.rows import Opened, PublicFacts, open_numbers
from privclust.parameters import WHOLE
from privclust.plan import Plan, rehearse
from privclust.schema.dialect import Csv
from privclust.schema.facts import Box
from privclust.schema.schema import ALL_OTHERS, Schema
from privclust.unit import Unit, row_unit, unit_from

# From released ranges to a schema that a fit can use, and warnings about it.

NOTE = "bounds found by a private question; they leave out a small share of the rows"
_LARGEST, _NARROWEST = 1e150, 1e-150
_LARGEST_INTEGER = 2**53
_FIRST_DAY, _LAST_DAY = date.min.toordinal(), date.max.toordinal()
_EPOCH = date(1970, 1, 1).toordinal()
_SURE = 2.0
_REMEDY = "raise epsilon, ask for fewer columns, or declare the bounds by hand"


def schema_of_ranges(
    result: BoundsResult,
    forms: Mapping[str, ColumnForm],
    *,
    ignore: Sequence[str] = (),
    csv: Csv | None = None,
) -> Schema:
    """Return the schema of the ranges; a column that noise hides gets the widest bounds."""
    columns = zip(forms.items(), result.ranges, strict=True)
    facts = [(name, _box(found, form)) for (name, form), found in columns]
    return Schema(facts, ignore=ignore, csv=csv, note=NOTE)


def range_warnings(
    result: BoundsResult, names: Sequence[str], outside_share: float
) -> Iterator[Note]:
    """Yield a note for each column that noise hides, that has gaps, or whose range is too small."""
    for name, found in zip(names, result.ranges, strict=True):
        missing = Noisy(np.array([found.missing]), found.missing_error)
        yield from missing_notes([name], missing, result.n_rows)
        if not found.found:
            yield Note(
                "columns-hidden",
                f"Noise hides the numbers of the column {name!r}, so its bounds are as wide as "
                f"they can be; {_REMEDY}.",
            )
            continue
        rows = result.n_rows - max(found.missing, 0.0)
        error = math.hypot(found.inside_error, found.missing_error, result.n_rows_error)
        outside = rows - found.inside - _SURE * error
        if outside > outside_share * rows:
            yield Note(
                "rows-outside",
                f"The bounds of the column {name!r} leave out at least {outside / rows:.0%} of its "
                f"rows, because noise hides where they are; {_REMEDY}.",
            )


def _box(found: Range, form: ColumnForm) -> Box:
    low, high = max(found.low, -_LARGEST), min(found.high, _LARGEST)
    if form in ("date", "time"):
        return _moments(low, high, found.median, form)
    whole = form == "integer" and found.found
    if whole:
        # The upper end is the first number beyond the last cell.
        low, high = float(math.ceil(low)), float(math.ceil(high)) - 1
        high = max(high, low + max(1.0, math.ulp(low)))
    if high - low < _NARROWEST:
        high = low + _NARROWEST
    usual = float(f"{found.median:.3g}") if found.found else low / 2 + high / 2
    usual = min(max(float(round(usual)) if whole else usual, low), high)
    if form == "integer" and not (whole and max(-low, high) <= _LARGEST_INTEGER):
        form = "number"
    return Box(low, high, usual, form)


def _moments(low: float, high: float, median: float, form: ColumnForm) -> Box:
    """Return a Box of dates or times within the calendar."""
    first, last = _FIRST_DAY - _EPOCH, _LAST_DAY - _EPOCH
    start = min(max(math.floor(max(low, first)), first), last - 1)
    end = min(max(math.ceil(min(high, last)), start + 1), last)
    ends = (start, end, min(max(round(median), start), end))
    low_day, high_day, usual = (date.fromordinal(_EPOCH + day) for day in ends)
    return Box(low_day, high_day, usual, "date" if form == "date" else "time")


class PrivateBounds(PrivateEstimator):
    """Bounds of columns of unknown range, found in private rows with noise.

    All other estimators need bounds from public knowledge. Where nothing is known, bounds can be
    bought with part of the data set's budget; a tenth may be enough. It is a fit of its own, with
    its own charge and release.

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    columns : list of str, dict of str to str, or None, default=None
        The columns, as names of numeric columns, or with their forms, such as ``{"born": "date"}``:
        ``"integer"`` or a form of :class:`privclust.Box`. Others are not read, unless ``ignore``
        lists which may be there. ``None`` takes all columns as numbers.
    outside_share : float, default=0.01
        The share of the rows that a range may leave out, on both sides together.
    unreadable : {"error", "missing"}, default="error"
        Refuse a value that does not have the declared form, or treat it as missing, so that no row
        can make the fit fail.
    ignore : sequence of str, default=()
        Columns of the data that are not read.
    csv : Csv or None, default=None
        How CSV files are written, if not in the usual way; needs ``columns``.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    schema_ : Schema
        A Box for every column, in which about the median stands for missing numbers.
    bounds_ : tuple of ndarray
        The lower and the upper bounds, as other estimators take them.
    found_ : ndarray of bool of shape (n_features,)
        Which columns stand out from the noise; the bounds of the others are as wide as possible.
    inside_, inside_error_ : ndarray of shape (n_features,)
        Noisy numbers of rows within the bounds, and their standard errors.
    missing_, missing_error_ : ndarray of shape (n_features,)
        Noisy numbers of rows without a finite number.
    n_rows_, n_rows_error_ : float
        The noisy number of all rows.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    warnings_ : tuple of str
        Columns that noise hides.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateBounds, PrivateKMeans
    >>> rows = np.random.default_rng(0).uniform(20, 80, (5000, 2))
    >>> found = PrivateBounds(epsilon=0.5).fit(rows)
    >>> model = PrivateKMeans(3, epsilon=1.0, schema=found.schema_).fit(rows)
    """

    _kind = "bounds"
    _parameters: ClassVar[Any] = BOUNDS.variants[0].parameters

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        outside_share: float = 0.01,
        unreadable: Literal["error", "missing"] = "error",
        ignore: Sequence[str] = (),
        csv: Csv | None = None,
        delta: Any = 0,
        budget: Budget | None = None,
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.columns = columns
        self.outside_share = outside_share
        self.unreadable = unreadable
        self.ignore = ignore
        self.csv = csv
        self.delta = delta
        self.budget = budget
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if ``columns`` does not name them.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        forms = forms_of(self.columns)
        if forms is None:
            if n_features is None:
                raise ParameterError("n_features must be given if columns is None.")
            WHOLE.check("n_features", n_features)
            forms = {f"x{i}": "number" for i in range(int(n_features))}
        names, unit = tuple(forms), row_unit(self.unit)
        return rehearse(
            self,
            lambda seed: synthetic(names, int(n_rows), unit, float(self.outside_share), seed),
            n_rows=int(n_rows),
            measure=WIDTH,
            known={"columns": list(names), "ignore": (), "csv": None},
        )

    # The steps of a fit.
    def _check_combinations(self) -> None:
        if not isinstance(self.csv, Csv | None):
            raise ParameterError("csv must be a Csv or None; write Csv(delimiter, decimal).")
        if self.csv is not None and self.columns is None:
            raise ParameterError("csv needs columns, the names of the columns; add them.")
        forms_of(self.columns)

    def _open(self, X: Any, public: Any = None) -> Opened:
        return open_numbers(
            X,
            forms_of(self.columns),
            unit=unit_from(self.unit),
            ignore=self.ignore if self.ignore or self.columns is None else None,
            csv=self.csv,
            total=self.unreadable == "missing",
        )

    def _door(self, opened: Opened) -> NumberRows:
        return NumberRows(opened, total=self.unreadable == "missing")

    def _ask(self, door: NumberRows, run: Run, public: Any = None) -> BoundsResult:
        share = float(self.outside_share)
        result = ask_bounds(door.private(run.meter, run.seed), run.budget.whole, share)
        return replace(result, notes=tuple(range_warnings(result, door.schema.names, share)))

    def _noisy_number(self, result: BoundsResult) -> Noisy:
        return Noisy(np.array([result.n_rows]), result.n_rows_error)

    def _keep(self, facts: PublicFacts, result: BoundsResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        usual: dict[str, ColumnForm] = dict.fromkeys(facts.schema.names, "number")
        forms = forms_of(self.columns) or usual
        ignore = self.ignore or ([] if self.columns is None else [ALL_OTHERS])
        self.schema_ = schema_of_ranges(result, forms, ignore=ignore, csv=self.csv)
        self.bounds_ = self.schema_.low, self.schema_.high
        self.found_ = result.found
        for name in ("inside", "inside_error", "missing", "missing_error"):
            setattr(self, f"{name}_", result.column_of(name))
        self.n_rows_, self.n_rows_error_ = result.n_rows, result.n_rows_error

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": {
                "found": self.found_,
                "inside": self.inside_,
                "inside_error": self.inside_error_,
                "missing": self.missing_,
                "missing_error": self.missing_error_,
                "n_rows": np.array([self.n_rows_]),
                "n_rows_error": np.array([self.n_rows_error_]),
            },
            "schema": self.schema_,
            "parameters": {"outside_share": float(self.outside_share)},
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
