"""The plan of a fit: every question with its cost and noise, and the error to expect.

A plan is made by rehearsing the fit on synthetic data of the declared shape. No data are touched
and nothing is spent.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
from sklearn.base import clone

from privclust.budget import Budget, Loss
from privclust.exceptions import ParameterError
from privclust.privacy.meter import Charge
from privclust.reports.axes import axes_or_new, draw_bars
from privclust.statement import cost_in, html_charges, lines_of, plain_charge
from privclust.unit import unit_from
from privclust.unit.rows import ReplaceRow

# A delta that reduces the error by less than this share is not worth it.
_WORTH_A_DELTA = 0.01
# What a plan for replaced rows assumes unless their number is declared.
_STATED = (
    "Rehearsed on rows whose number is stated, as by a data frame or a Parquet file; of CSV files "
    "and streams it may have to be asked with noise, unless ReplaceRow(n_rows) declares it."
)


@dataclass(frozen=True)
class Measure:
    """What error a plan reports, and how much of it is too much."""

    name: str  # what is measured, such as ``"inertia"``
    # Up to the first the budget suffices; above the second the result would be mostly noise.
    good: float = 1.5
    hopeless: float = np.inf
    # How the error is worded, with ``{name}``, ``{error}`` and ``{n_rows}``.
    sentence: str = "Expected {name}: {error:.3g} times that without privacy."
    # The error alone, and what it is relative to, in sentences that compare several.
    short: str = "{error:.3g} times"
    relative: str = " that without privacy"
    # What helps.
    remedy: str = "raise epsilon, set delta, ask for fewer clusters or columns, or gather more rows"


@dataclass(frozen=True)
class Rehearsal:
    """Synthetic data for one rehearsal."""

    data: tuple[Any, ...]  # what a model is fitted to; see ``PrivateEstimator._rehearse``
    # Takes the fitted model and returns its error, relative to a fit without privacy.
    error_ratio: Callable[[Any], float]


@dataclass(frozen=True, repr=False)
class Plan:
    """What a fit would ask, what it would cost, and how well it would do.

    Attributes
    ----------
    budget : Budget
        What the fit may spend.
    protects : str
        What would be protected, in words.
    queries : tuple of Charge
        The questions of the last rehearsal. Later questions can depend on earlier noisy answers,
        so the noise of the real fit may differ a little; its cost does not.
    n_rows : int
        The number of rows that the data are assumed to have.
    error_ratio : float
        The expected error; ``measure`` says of what, and relative to what.
    measure : Measure
        What error is meant.
    notes : tuple of str
        What else to expect, a sentence each.
    size_error : float or None
        Two standard errors of the size of a cluster, the largest of them, where sizes are released.
    """

    budget: Budget
    protects: str
    queries: tuple[Charge, ...]
    n_rows: int
    error_ratio: float
    measure: Measure
    notes: tuple[str, ...] = ()
    size_error: float | None = None

    @property
    def spent(self) -> Loss:
        """The composition of all questions."""
        return Loss.total(charge.loss for charge in self.queries)

    @property
    def advice(self) -> str:
        """What the expected error means, in one sentence."""
        if self.budget.delta > Fraction(1, max(self.n_rows, 1)):
            return (
                "delta is above 1/n for n rows, which would allow a row to be "
                f"published unchanged; lower it to {0.1 / max(self.n_rows, 1):.0e} or less."
            )
        if self.error_ratio <= self.measure.good:
            return "The budget is enough for this many rows of such data."
        if self.error_ratio > self.measure.hopeless:
            return f"The result would be mostly noise: {self._remedy}."
        return f"The budget is too small for this many rows: expect a poor result; {self._remedy}."

    @property
    def _remedy(self) -> str:
        return self.measure.remedy.replace(
            " set delta,", "" if self.budget.delta else " set delta,"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "epsilon": str(self.budget.epsilon),
            "delta": str(self.budget.delta),
            "protects": self.protects,
            "queries": [plain_charge(charge) for charge in self.queries],
            "n_rows": self.n_rows,
            "error_ratio": self.error_ratio,
            "size_error": self.size_error,
            "measure": self.measure.name,
            "advice": self.advice,
            "notes": list(self.notes),
        }

    @property
    def _paid(self) -> Budget:
        return self.budget.paid_from(self.spent)

    def _title(self) -> str:
        unused = "" if self._paid is self.budget else ", without the δ"
        return f"Plan: {self._paid.words} in all{unused}, rehearsed for {self.n_rows:,} rows"

    def _forecast(self) -> list[str]:
        """Return what to expect, a sentence each."""
        facts = {"name": self.measure.name, "error": self.error_ratio, "n_rows": self.n_rows}
        expected = [self.measure.sentence.format(**facts)]
        if self.size_error is not None:
            expected.append(f"Sizes of clusters: ± {self.size_error:,.3g} rows.")
        return [*expected, self.advice, *self.notes]

    def __str__(self) -> str:
        currency = self._paid.currency
        unit = "ε" if currency == "pure" else "ρ"
        lines = [
            self._title(),
            self.protects,
            f"  cost in {unit}  question (what it asks; the noise of the answer)",
        ]
        for charge, line in zip(self.queries, lines_of(self.queries), strict=True):
            lines.append(f"  {cost_in(charge, currency):9.4g}  {line}")
        return "\n".join([*lines, *self._forecast()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what to expect first, then every question."""
        expected = "<br>".join(map(escape, self._forecast()))
        asked = html_charges(self.queries, self._paid.currency)
        title, protects = escape(self._title()), escape(self.protects)
        return f"<div><p><b>{title}</b></p><p>{expected}</p><p>{protects}</p>{asked}</div>"

    def plot(self, *, ax: Any = None) -> Any:
        """Draw what each question costs, the first on top, and return the axes.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if not given.
        """
        axes, currency = axes_or_new(ax), self._paid.currency
        costs = np.array([cost_in(charge, currency) for charge in self.queries])
        words = f"cost in {'ε' if currency == 'pure' else 'ρ'}"
        draw_bars(axes, [charge.query for charge in self.queries], costs, None, words)
        axes.set_title(self._forecast()[0], wrap=True)
        return axes


def rehearse(
    model: Any,
    synthetic: Callable[[int], Rehearsal],
    *,
    n_rows: int,
    measure: Measure,
    known: dict[str, Any] | None = None,
    times: int = 3,
) -> Plan:
    """Fit copies of a model to synthetic data, and report what they asked and how well they did.

    ``synthetic``: makes the data of a rehearsal from its number. ``n_rows``: the number of rows
    that the data are assumed to have. ``measure``: what error is measured on the synthetic data.
    ``known``: parameters of the copies that differ from the model's.
    """
    unit = unit_from(model.unit) if isinstance(model.unit, Mapping) else model.unit
    declared = unit if isinstance(unit, ReplaceRow) and unit.n_rows is not None else None
    if declared is not None:  # rehearsals may have fewer rows
        known = {**(known or {}), "unit": ReplaceRow()}
    rehearsal, errors, sizes = model, [], []
    for number in range(times):
        changed = {**(known or {}), "ledger": None, "random_state": number}
        rehearsal = type(model)(**{**model.get_params(deep=False), **changed})
        made = synthetic(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the plan's advice says it
            run = rehearsal._run(charged=model.ledger is not None)
            rehearsal._rehearse(run, *made.data)
        errors.append(made.error_ratio(rehearsal))
        sizes.append(2 * np.max(getattr(rehearsal, "cluster_sizes_error_", np.nan)))
    stated = rehearsal.privacy_
    budget, error = Budget(stated.epsilon, stated.delta), float(np.mean(errors))
    size_error = None if np.isnan(sizes).any() else float(np.mean(sizes))
    plan = Plan(
        budget, stated.protects, stated.queries, n_rows, error, measure, size_error=size_error
    )
    if declared is not None:
        return replace(plan, protects=declared.describe(budget))
    return replace(plan, notes=(_STATED,)) if stated.unit["name"] == ReplaceRow.name else plan


def note_pure_alternative(plan: Plan, pure: Plan) -> Plan:
    """Return a plan with a delta, with a note on the same epsilon without one.

    A fit in pure ε keeps the promise of the same ε with any δ, so it may be used instead. Noise is
    smaller with a δ only where many questions share the budget.
    """
    words = f"With delta=0 and the same epsilon it would be {pure.error_ratio:.3g} times"
    if pure.error_ratio * (1 - _WORTH_A_DELTA) <= plan.error_ratio:
        words += "; leave delta at 0, which keeps this promise too and a stronger one"
    return replace(plan, notes=(*plan.notes, f"{words}."))


# The smallest ε, or the fewest rows, for an error that is wanted: a search over plans.

# Where ε and the number of rows are looked for, and how closely they are found.
_LEAST_EPSILON, _MOST_EPSILON = 2.0**-10, 2.0**7
_FEWEST_ROWS, _MOST_ROWS = 100, 100_000
_CLOSE = 1.1


@dataclass(frozen=True)
class Target:
    """An error that is wanted: at most so much of the plan's measure, or of a cluster's size."""

    of_sizes: bool
    most: float

    @classmethod
    def of(cls, wanted: Any, measure: str) -> Target:
        """Return the target that a number, or words such as "size ±50", stand for."""
        said = [] if isinstance(wanted, bool) else str(wanted).replace("±", " ").split()
        name, number = said if len(said) == 2 else (measure, said[0] if len(said) == 1 else "")
        try:
            most = float(number)
        except ValueError:
            most = math.nan
        if name not in (measure, "size") or not 0 < most < math.inf:
            raise ParameterError(
                f'target must be a number, "{measure} 1.05" or "size 50", got {wanted!r}; write it '
                "so."
            )
        return cls(name == "size", most)

    def error_of(self, plan: Plan) -> float:
        """Return the error that counts; raise if the plan has none."""
        if not self.of_sizes:
            return plan.error_ratio
        if plan.size_error is None:
            raise ParameterError(
                "No sizes of clusters are released by this fit; give a target of "
                f"{plan.measure.name}."
            )
        return plan.size_error

    def words(self, plan: Plan) -> str:
        """Return the target as a sentence names it."""
        if self.of_sizes:
            return f"sizes within ± {self.most:g} rows"
        return f"an expected {plan.measure.name} of at most {self.most:g}"


def plan_for_target(model: Any, wanted: Any, n_rows: int | None, **shape: Any) -> Plan:
    """Return the plan of the smallest ε, or without ``n_rows`` of the fewest rows, for an error.

    ``wanted``: see :class:`Target`. ``shape``: what else the plans of the model are given.
    """
    if model.budget is not None:
        raise ParameterError("A target needs epsilon and delta in place of budget; give these.")
    target = Target.of(wanted, model.plan(_FEWEST_ROWS, **shape).measure.name)
    if n_rows is None:
        found = _search(lambda rows: model.plan(round(rows), **shape), target, _ROWS)
        given = f"With ε = {float(found.budget.epsilon):g}"
        takes = f"about {found.n_rows:,} rows"
    else:

        def plan_at(epsilon: float) -> Plan:
            rehearsed: Plan = clone(model).set_params(epsilon=epsilon).plan(n_rows, **shape)
            return rehearsed

        found = _search(plan_at, target, _EPSILONS)
        given, takes = f"For {n_rows:,} rows", f"ε = {float(found.budget.epsilon):g}"
    words = f"{given}, to get {target.words(found)} takes {takes}."
    if target.error_of(found) > target.most:
        remedy = "ask for fewer clusters or columns"
        if target.of_sizes and n_rows is None:
            remedy = "the noise of sizes is the same for any number, so raise epsilon"
        words = f"{given}, to get {target.words(found)} takes more than {takes}; {remedy}."
    return replace(found, notes=(words, *found.notes))


_EPSILONS, _ROWS = (_LEAST_EPSILON, _MOST_EPSILON), (_FEWEST_ROWS, _MOST_ROWS)


def _search(planned: Callable[[float], Plan], target: Target, ends: tuple[float, float]) -> Plan:
    """Return the plan of the smallest number whose error is small enough, or of the largest one."""
    low, high = ends
    best = planned(high)
    if target.error_of(best) > target.most:
        return best
    while high > _CLOSE * low:
        middle = float(f"{math.sqrt(low * high):.2g}")
        if not low < middle < high:
            break
        plan = planned(middle)
        if target.error_of(plan) <= target.most:
            best, high = plan, middle
        else:
            low = middle
    return best
