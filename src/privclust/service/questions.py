"""What an analyst asks: a question as plain data, and the fit that answers it.

A question names an offer, a budget, columns, clusters, options and public points, and nothing else.
There is no seed in it, no path and no code; bounds and unit come from the registered data set.

*Why this is private.* Whatever a fit refuses before its charge, it refuses by public facts alone.
So it is tried on synthetic data first, and a question that could not be answered is never charged.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privclust.budget import Budget
from privclust.jobs.fit import Fit, sentence_of
from privclust.schema.schema import Schema
from privclust.service.declared import Counts, Declared, places
from privclust.service.errors import ServiceError
from privclust.service.offers import (
    OFFERS,
    Offer,
    Targets,
    chosen_options,
    offers_for,
    targets_of,
)
from privclust.tasks import Variant
from privclust.unit import Unit

MOST_CLUSTERS = 200
LEAST_EPSILON, LARGEST_EPSILON = Fraction("1e-4"), 100
_MOST_SHOWN = 12
_FEW = 20
_NO_TARGETS = "Give the public points among which new centres are chosen, one per line."
FIELDS = ("family", "epsilon", "delta", "clusters", "columns", "options", "targets")
_NUMBER = re.compile(
    r"\d{1,20}/\d{1,40}|(\d{1,20}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?", re.A
)


@dataclass(frozen=True)
class FitQuestion:
    """One question about one data set, checked against what is public about it."""

    offer: Offer
    columns: tuple[str, ...]  # in the order of the schema; none of a matrix
    clusters: int | str | None
    budget: Budget
    options: tuple[tuple[str, Any], ...] = ()  # parameters that are not at their defaults
    # Public points, in the order of the columns, where a family takes them.
    targets: Targets | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any], declared: Declared) -> FitQuestion:
        """Return the question that a request holds, or refuse it in one sentence."""
        unknown = set(given) - set(FIELDS)
        if unknown:
            raise ServiceError(
                f"{min(unknown)[:40]!r} is not part of a question, which has {', '.join(FIELDS)}."
            )
        offer = OFFERS.get(str(given.get("family") or _usual(declared)))
        if offer is None or not offer.is_for(declared):
            raise ServiceError("This data set does not offer that family; choose another one.")
        columns = _columns(offer, declared, given.get("columns"))
        return cls(
            offer,
            columns,
            _clusters(offer, given.get("clusters")),
            budget_of(given.get("epsilon", "1"), given.get("delta") or "0"),
            tuple(sorted(chosen_options(offer.options, given.get("options"), columns).items())),
            _targets(offer, given.get("targets"), len(columns)),
        )

    @property
    def _variant(self) -> Variant:
        return self.offer.task.variant(dict(self.options).get("method"))

    @property
    def kind(self) -> type:
        """The class of the estimator that answers it."""
        return self._variant.kind

    def model(self, declared: Declared, unit: Unit, **shared: Any) -> Any:
        """Return the estimator that answers the question."""
        of_fit = self.fit_arguments
        given = {name: value for name, value in self.options if name not in of_fit}
        given = self._variant.arguments(given)
        if self.offer.task.clusters:
            given[self.offer.task.clusters] = self.clusters
        if isinstance(declared, Counts):
            given["shape"] = declared.shape
        else:
            given["schema"] = declared.only(self.columns)
        return self.kind(budget=self.budget, unit=unit, **given, **shared)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """The options that are arguments of the estimator's ``fit``."""
        named = {option.name for option in self.offer.options if option.of_fit}
        return {name: value for name, value in self.options if name in named}

    def cost(self, declared: Declared, unit: Unit) -> Budget:
        """Return what a fit charges, which the estimator says: it may be ε for each column."""
        cost: Budget = self.model(declared, unit)._budget()
        return cost

    def values_per_row(self, declared: Declared) -> int:
        """Return about how many values of a row are read, from what is declared."""
        if isinstance(declared, Counts):
            return min(declared.columns, declared.row_total)
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data, the way :meth:`parse` reads it."""
        return {
            "family": self.offer.name,
            "epsilon": _text(self.budget.epsilon),
            "delta": _text(self.budget.delta),
            "columns": list(self.columns),
            **({} if self.clusters is None else {"clusters": self.clusters}),
            **({"options": dict(self.options)} if self.options else {}),
            **({} if self.targets is None else {"targets": [*map(list, self.targets)]}),
        }

    def digest_on(self, dataset_id: str, files: str) -> str:
        """Return what tells this question about these files apart from every other one.

        ``files``: the digest of the files. No reader sees it, nor what comes of it: it knows every
        row.
        """
        plain = json.dumps([dataset_id, files, self.to_dict()], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(plain.encode()).hexdigest()

    def to_python(self, url: str) -> str:
        """Return the question as a program that asks it at the address of its data set."""
        variant, task = self._variant, self.offer.task
        module, _, kind = variant.estimator.partition(":")
        home, plain = module if variant.paper else "privclust", self.to_dict()
        given: dict[str, Any] = {"epsilon": float(self.budget.epsilon)}
        if task.clusters:
            given = {task.clusters: self.clusters, **given}
        given |= {"delta": float(self.budget.delta)} if self.budget.delta else {}
        beside = self.fit_arguments
        given |= variant.arguments(dict(self.options))
        if self.columns:
            beside = {"columns": plain["columns"], **beside}
        if self.targets is not None:
            beside = {**beside, "target": plain["targets"]}
        model = ", ".join(f"{name}={value!r}" for name, value in given.items())
        asked = "".join(f",\n    {name}={value!r}" for name, value in beside.items())
        return (
            f"from {home} import {kind}\nfrom privclust.service import RemoteDataset\n\n"
            f'data = RemoteDataset("{url}", token)\n'
            f"release = data.fit(\n    {kind}({model}){asked},\n)\n"
        )

    def to_command(self, url: str) -> str:
        """Return the question as a command that asks it at the address of its data set."""
        plain, option = self.to_dict(), {name: self.option(name) for name, _ in self.options}
        parts = ["privclust", "remote", "ask", url, "--family", self.offer.name]
        parts += ["--epsilon", plain["epsilon"]]
        parts += ["--delta", plain["delta"]] if self.budget.delta else []
        parts += [] if self.clusters is None else ["--clusters", str(self.clusters)]
        for column in self.columns:
            parts += ["--column", column]
        for name, value in option.items():
            parts += ["--option", f"{name}={value}"]
        parts += ["--target", "points.csv"] if self.targets is not None else []
        return shlex.join(parts)

    def names(self, option: str, column: str) -> bool:
        """Return whether an option that is a list of columns names this one."""
        return column in (dict(self.options).get(option) or ())

    def option(self, name: str) -> str:
        """Return an option as the form shows it."""
        known = {option.name: option for option in self.offer.options}[name]
        return known.show(dict(self.options).get(name, known.default))


def describe_question(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question for readers: without long lists of numbers, and options as words."""
    shown = {name: value for name, value in asked.items() if name not in ("options", "targets")}
    shown |= {name: _short(value) for name, value in asked.get("options", {}).items()}
    return shown | ({"targets": f"{len(asked['targets'])} points"} if "targets" in asked else {})


def _short(value: Any) -> Any:
    """Return a value, or how many there are if they are many."""
    if not isinstance(value, list) or isinstance(value[0], str):
        return value
    if isinstance(value[0], list):
        return f"{len(value)} points"
    return f"{len(value)} numbers" if len(value) > _MOST_SHOWN else ", ".join(map(str, value))


def _usual(declared: Declared) -> str:
    return "kmeans" if isinstance(declared, Schema) else "cocluster"


def _columns(offer: Offer, declared: Declared, given: Any) -> tuple[str, ...]:
    given = given or offer.columns(declared)[: offer.task.most]
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ServiceError("Columns must be a list of names; give one name per item.")
    allowed = offer.columns(declared)
    if any(name not in allowed for name in given):
        raise ServiceError("This family does not take one of these columns; leave it out.")
    chosen = tuple(name for name in allowed if name in given)
    if len(chosen) < offer.task.fewest:
        raise ServiceError(f"This family needs at least {offer.task.fewest} columns; choose more.")
    if offer.task.most is not None and len(chosen) > offer.task.most:
        raise ServiceError(f"This family takes at most {offer.task.most} columns; choose fewer.")
    return chosen


def _clusters(offer: Offer, given: Any) -> int | str | None:
    if offer.clusters is None:
        return None
    text = str(given if given not in (None, "") else offer.clusters).strip()
    if offer.takes_auto and text == "auto":
        return text
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= number <= MOST_CLUSTERS:
        raise ServiceError(f"The number of clusters must be from 1 to {MOST_CLUSTERS}; change it.")
    return number


def _targets(offer: Offer, given: Any, n_columns: int) -> Targets | None:
    if given and not offer.takes_targets:
        raise ServiceError("This family takes no points; leave targets out.")
    return targets_of(given, n_columns) if given else None


def budget_of(epsilon: Any, delta: Any) -> Budget:
    """Return the budget that two texts mean, or refuse them in one sentence."""
    spent, risk = _number("epsilon", epsilon), _number("delta", delta)
    if spent > LARGEST_EPSILON:
        raise ServiceError(f"epsilon must be at most {LARGEST_EPSILON} here; lower it.")
    if spent < LEAST_EPSILON:
        raise ServiceError(f"epsilon must be at least {float(LEAST_EPSILON)} here; raise it.")
    if risk >= 1:
        raise ServiceError("delta must be below 1, and is 0 or tiny as a rule; lower it.")
    try:
        return Budget.of(Budget(spent, risk))
    except ValueError as error:
        raise ServiceError(sentence_of(error)) from None


def _number(name: str, given: Any) -> Fraction:
    """Return the fraction that a text means; a long exponent would fill the memory."""
    text = str(given).strip()
    if not _NUMBER.fullmatch(text) or (text.count("/") and not int(text.split("/")[1])):
        raise ServiceError(f"{name} must be a number such as 0.5; change it.")
    return Fraction(text)


def _text(number: Fraction) -> str:
    """Return a number as its reader would write it, exactly."""
    short = f"{float(number):.15g}"
    return short if Fraction(short) == number else str(number)


# From a question to a fit: to the rows, to synthetic data, or as far as its charge and no further.
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
