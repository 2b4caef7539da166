"""``PrivateEstimator``: what every fit needs of the ledger, the release and scikit-learn.

An estimator is a thin shell in the style of scikit-learn. It opens the data without reading them,
and keeps only released values. A family says how to open the data, through which door they are
asked, what to ask, what to keep and what to publish; the order of these is in ``fitting.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from privclust._typing import Floats
from privclust.budget import Budget
from privclust.data.public import Noisy
from privclust.exceptions import (
    DataError,
    LeakWarning,
    LowSignalWarning,
    ParameterError,
    PrivclustError,
    PublicFactWarning,
    first_caller_outside,
)
from privclust.fitting import Run, Then, fit_in_order
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, bound_notes, delta_notes, parameters_of
from privclust.opening.rows import PublicFacts
from privclust.parameters import Parameter, check_parameters
from privclust.pipelines import RESCORED, Leak, find_leaks
from privclust.privacy.meter import Meter
from privclust.release.release import Release
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement, html_alarm, loss_words
from privclust.unit import Unit

_WEAK_EPSILON = 10


class PrivateEstimator(BaseEstimator):
    """Common parts of the private estimators; see a subclass for the parameters.

    A subclass has ``_kind`` (its kind of release), ``_parameters`` (records of its parameters) and
    fills in the steps of :class:`privclust.fitting.FitSteps`.
    """

    _kind: ClassVar[str]
    _parameters: ClassVar[tuple[Parameter, ...]] = ()

    epsilon: Any
    delta: Any
    budget: Budget | None
    random_state: int | None
    ledger: Ledger | None
    dataset: str | None
    privacy_: PrivacyStatement
    schema_: Schema
    warnings_: tuple[str, ...]
    _release: Release

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit to the rows of ``X`` and keep released values.

        Parameters
        ----------
        X : array, sparse matrix, data frame, Arrow data or path of a CSV or Parquet file
            The private rows.
        y : ignored
        """
        self._fit(X)
        return self

    def release(self) -> Release:
        """Return what may be published: the release whose digest is in the ledger."""
        check_is_fitted(self)
        return self._release

    def plot(self, columns: Sequence[str] | None = None, *, ax: Any = None) -> Any:
        """Draw what was released and return the axes; see :meth:`privclust.Release.plot`.

        Parameters
        ----------
        columns : sequence of str or None
            One or two columns to draw.
        ax : matplotlib Axes or None
            Where to draw; a new figure if not given.
        """
        return self.release().plot(columns, ax=ax)

    # What a family says.
    def _open(self, X: Any, public: Any = None) -> Any:
        raise NotImplementedError

    def _door(self, opened: Any) -> Any:
        raise NotImplementedError

    def _ask(self, door: Any, run: Run, public: Any = None) -> Any:
        raise NotImplementedError

    def _keep(self, facts: PublicFacts, result: Any, public: Any = None) -> None:
        raise NotImplementedError

    def _release_fields(self) -> dict[str, Any]:
        raise NotImplementedError

    def _noisy_number(self, result: Any) -> Noisy | None:
        """Return terms that add up to the noisy number of what is protected; None if unknown.

        For people it is the number of rows.
        """
        raise NotImplementedError

    def _centres_and_sizes(self, result: Any) -> tuple[Floats, Noisy] | None:
        """Return released centres of rows in the units of the data, and their numbers of rows."""
        return None

    def _rehearse(self, run: Run, *data: Any) -> None:
        """Fit to synthetic data, for a plan."""
        (rows,) = data
        self._fit(rows, run=run)

    def _check_combinations(self) -> None:
        """Raise if parameters that are valid by themselves do not go together."""

    def _check_before_charge(self, door: Any, public: Any = None) -> None:
        """Raise, before any charge, if the fit cannot work; warn of doubtful public facts."""

    # The steps of a fit that all families share; their order is in ``fitting.py``.
    def _fit(
        self,
        X: Any,
        *,
        run: Run | None = None,
        then: Callable[[Any], Then] | None = None,
        public: Any = None,
    ) -> Then | None:
        return fit_in_order(self, X, run=run, then=then, public=public)

    def _warn_of_doubts(self) -> None:
        for message in (*self.warnings_, *self._advice()):
            self._warn(message, LowSignalWarning)
        if len(self._uncharged) > 1:
            epsilons, deltas = zip(*self._uncharged, strict=True)
            total = loss_words(sum(epsilons, Fraction(0)), sum(deltas, Fraction(0)))
            self._warn(
                f"This model was fitted {len(self._uncharged)} times; if to the same rows, that "
                f"cost {total} in all, whichever result you publish: fit once, or charge fits to "
                "a ledger, which keeps within what was granted.",
                PublicFactWarning,
            )

    def _advice(self) -> Iterable[str]:
        """Return what would help where noise hides the clusters, a sentence each."""
        return ()

    def _count_uncharged(self) -> None:
        """Add this fit to those of this model that no ledger adds up."""
        counted, stated = getattr(self, "_uncharged", ()), self.privacy_
        if stated.receipt is None and not stated.seeded:
            counted = (*counted, (stated.epsilon, stated.delta))
        self._uncharged: tuple[tuple[Fraction, Fraction], ...] = counted

    def _check_parameters(self) -> None:
        check_parameters(self)
        self._budget()
        self._check_combinations()

    def _run(self, charged: bool | None = None) -> Run:
        """Return what a fit starts from; warn of what leaks around it.

        It is charged if there is a ledger, unless a rehearsal says otherwise.
        """
        budget = self._budget()
        seed, choices = self._seeds()
        leaks = [*find_leaks(self, PrivateEstimator), *self._leaks_of_this_model()]
        for leak in leaks:
            self._warn(str(leak), LeakWarning)
        if budget.epsilon > _WEAK_EPSILON:
            self._warn(
                f"ε = {float(budget.epsilon):g} protects almost nobody: a reader may become sure "
                "of almost any fact about a row; use at most 1 for a strong promise.",
                PublicFactWarning,
            )
        charged = self.ledger is not None if charged is None else charged
        flaws = tuple(leak.flaw for leak in leaks)
        return Run(budget, Meter(budget), seed, choices, flaws, charged)

    def _finish(self, unit: Unit, run: Run, receipt: str | None, result: Any) -> None:
        """State the promise, make the release, and settle the charge with its digest."""
        notes = (*result.notes, *self._common_notes(unit, run.budget, result))
        self.warnings_ = tuple(note.text for note in notes)
        self.privacy_ = PrivacyStatement.from_meter(
            run.meter, unit=unit, private=run.seed is None, flaws=run.flaws, receipt=receipt
        )
        self._count_uncharged()
        published = self._release_fields()
        published["arrays"] = published["arrays"] | self._keep_missing(result)
        published["parameters"] = {**published["parameters"], **parameters_of(notes)}
        self._release = Release(kind=self._kind, privacy=self.privacy_, **published)
        self.__dict__.pop("_scored", None)
        if self.ledger is not None and receipt is not None:
            Ledger.of(self.ledger).settle(receipt, self._release.digest, flaws=run.flaws)

    def _common_notes(self, unit: Unit, budget: Budget, result: Any) -> Iterator[Note]:
        """Yield the notes of every estimator: bounds that clip rows, and a large δ."""
        placed, number = self._centres_and_sizes(result), self._noisy_number(result)
        if placed is not None:
            yield from bound_notes(*placed, self.schema_)
        if number is not None:
            yield from delta_notes(number, budget, unit)
        counted = getattr(result, "missing", None)
        if counted is not None and number is not None:
            yield from counted.notes(float(number.value.sum()))

    def _keep_missing(self, result: Any) -> dict[str, Any]:
        """Keep how many values rules stood for, if that was asked; return it for the release."""
        for name in ("missing_counts_", "missing_counts_error_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        counted = getattr(result, "missing", None)
        if counted is None:
            return {}
        self.missing_counts_: dict[str, float] = counted.by_name()
        self.missing_counts_error_: float = counted.counts.standard_error
        arrays: dict[str, Any] = counted.arrays()
        return arrays

    def _budget(self) -> Budget:
        if self.budget is None:
            for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
                if isinstance(value, str):
                    raise ParameterError(
                        f"{name} must be a number, got {value!r}; write it without quotes."
                    )
            return Budget.of(self.epsilon, self.delta)
        if not isinstance(self.budget, Budget):
            raise ParameterError(
                f"budget must be a Budget or None, got {type(self.budget).__name__}; write "
                "Budget(epsilon, delta)."
            )
        return Budget.of(self.budget)

    def _seeds(self) -> tuple[np.random.SeedSequence | None, np.random.Generator]:
        """Return the seed of the noise, if any, and the generator of public choices."""
        if self.random_state is None:
            return None, np.random.default_rng()
        number = isinstance(self.random_state, (int, np.integer))
        if not number or isinstance(self.random_state, bool) or self.random_state < 0:
            raise ParameterError(
                "random_state must be None or a whole number of at least 0 "
                f"(generators are not accepted), got {type(self.random_state).__name__}."
            )
        noise, choices = np.random.SeedSequence(int(self.random_state)).spawn(2)
        return noise, np.random.default_rng(choices)

    def _leaks_of_this_model(self) -> list[Leak]:
        return [RESCORED] if getattr(self, "_scored", False) else []

    # The ledger.
    def _reserve(self, budget: Budget, unit: Unit) -> str | None:
        """Charge the ledger, durably, before any row is read."""
        if self.ledger is None:
            return None
        if self.random_state is not None:
            raise ParameterError(
                "A seeded fit is not private and cannot be charged to a ledger; "
                "leave random_state=None or drop the ledger."
            )
        if not self.dataset:
            raise ParameterError("A ledger needs dataset=, the name of the data set to charge.")
        ledger, purpose = Ledger.of(self.ledger), type(self).__name__
        return ledger.reserve(self.dataset, budget, unit, purpose, currency=budget.currency)

    @contextmanager
    def _charge_noted_in_errors(self, budget: Budget, receipt: str | None) -> Iterator[None]:
        """Add a note on what stays charged to any exception that ends a charged fit."""
        try:
            yield
        except BaseException as error:
            if receipt is None:
                raise
            charged = f"{budget.words} stays charged to {self.dataset!r} (receipt {receipt})"
            if isinstance(error, DataError):
                charged += ", so run privclust check before the next fit"
            if isinstance(error, PrivclustError):
                error.args = (f"{str(error).rstrip('.')}; {charged}.", *error.args[1:])
            else:
                error.add_note(f"{charged}.")
            raise

    # Columns.
    def _remember_columns(self, names: Sequence[str] | None, count: int) -> None:
        """Keep the number of columns, and their names if they have any."""
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _compare_columns(self, X: Any) -> None:
        """Compare the columns of new rows with those of the fit, in scikit-learn's own words."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)

    # What is shown.
    def _warn(self, message: str, category: type[Warning]) -> None:
        warnings.warn(message, category, stacklevel=first_caller_outside())

    def _flaws(self) -> tuple[str, ...]:
        statement = getattr(self, "privacy_", None)
        return () if statement is None else statement.flaws

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = str(super().__repr__(N_CHAR_MAX))
        return f"{shown}  # NOT PRIVATE" if self._flaws() else shown

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's diagram, with the warning above it."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self._flaws() and "text/html" in shown:
            shown["text/html"] = html_alarm(self.privacy_.promise) + shown["text/html"]
        return shown
