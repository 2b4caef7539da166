"""The published DP-DILCA family (Battaglia, Celano, Pensa 2021): Algorithms 1 to 5.

Algorithm 1 noises all pair tables and goes on as if they were exact. Algorithm 2 divides the budget
by the targets; each spends a share on its context (Algorithm 3, 4 or 5) and the rest on the tables
with the attributes of that context. Sensitivities are the exact ones, so contexts are chosen with
half the noise of Algorithms 4 and 5; ``noise="published"`` is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.categories.context import Context, above_mean, association, choose_context
from privclust.categories.estimator import Declared, PrivateDilca
from privclust.categories.learn import LearningMethod, MetricTables, Options
from privclust.categories.pair_tables import PairTableCells
from privclust.categories.shrinkage import Estimate, clip_tables
from privclust.categories.task import DISTANCES
from privclust.data.table.public import PairLayout, check_subsets
from privclust.data.table.view import TableView
from privclust.exceptions import ParameterError
from privclust.ledger.ledger import Ledger
from privclust.schema.schema import Schema
from privclust.unit import ReplaceRow, Unit, unit_from

# One set of tables from those of single targets, which the published variants measure apart.


def merge_estimates(learned: MetricTables) -> Estimate:
    """Return the tables of all targets together; a pair that was measured twice is averaged.

    Where all targets share their tables, these are returned as they are. Ordinary arithmetic on
    released values.
    """
    estimates = {id(estimate): estimate for estimate in learned.estimates.values()}
    if len(estimates) == 1:
        return next(iter(estimates.values()))
    apart = [*estimates.values()]
    sizes = apart[0].layout.sizes
    pairs = sorted({pair for estimate in apart for pair in estimate.layout.pairs})
    layout = PairLayout(sizes, tuple(pairs))
    return Estimate(
        layout,
        float(np.mean([estimate.n_rows for estimate in apart])),
        _margins(apart, layout),
        _average_tables(layout, [(estimate.layout, estimate.counts) for estimate in apart]),
        _average_tables(layout, [(estimate.layout, estimate.variances) for estimate in apart]),
        np.zeros(len(pairs)),
    )


def _average_tables(layout: PairLayout, parts: list[tuple[PairLayout, Floats]]) -> Floats:
    cells, times = np.zeros(layout.n_cells), np.zeros(layout.n_cells)
    for own, values in parts:
        for pair, place in own.places.items():
            to = slice(*layout.starts[layout.places[pair] : layout.places[pair] + 2])
            cells[to] += values[slice(*own.starts[place : place + 2])]
            times[to] += 1
    return cells / np.maximum(times, 1)


def _margins(apart: list[Estimate], layout: PairLayout) -> Floats:
    """Return the mean, over those that measured an attribute, of its margins."""
    sizes = layout.sizes
    sums, times = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    for estimate in apart:
        measured = np.isin(np.arange(len(sizes)), PairTableCells(estimate.layout).pairs)
        sums += estimate.margins
        times += np.repeat(measured, sizes)
    return sums / np.maximum(times, 1)


_COUNT_SHARE = 0.02
# Theorems 6 and 7 bound the change of a score by twice what it is, so half of ε buys their noise.
_PUBLISHED_SHARE = Fraction(1, 2)


@dataclass(frozen=True)
class ContextOptions(Options):
    """Choices of the published variants: those that all methods share, and whose noise."""

    noise: str = "exact"


# From a target, about the number of rows, a size and a share, to a context.
ChooseContext = Callable[[int, float, int, Share], Context]
# A table is of use while its noise, for a value of the target, is below this part of its rows.
_MOST_NOISE = 0.025


def ask_baseline(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Algorithm 1: all pair tables, then the rule of DILCA_RR; all targets share the tables."""
    pairs = list(combinations(range(view.n_attributes), 2))
    tables = view.ask_pair_tables("pair tables", pairs, budget)
    estimate = clip_tables(tables)
    known = association(estimate)
    contexts = {
        target: choose_context("relevant-non-redundant", target, known, options.context_size)
        for target in options.targets
    }
    estimates = dict.fromkeys(contexts, estimate)
    return MetricTables(contexts, estimates, tables.standard_error, tables.n_rows)


def ask_mean_su(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Algorithms 2 and 3: contexts by noisy entropies, in numerator and denominator alike."""

    def ask_context(target: int, rows: float, size: int, share: Share) -> Context:
        others = [x for x in range(view.n_attributes) if x != target]
        sets: list[tuple[int, ...]] = [(target,), *((x,) for x in others)]
        sets += [(target, x) for x in others]
        name = f"entropies around {view.names[target]}"
        values = view.ask_entropies(name, sets, rows, share).value / rows
        own, single, joint = values[0], values[1 : len(others) + 1], values[len(others) + 1 :]
        both = own + single
        shares = np.where(np.abs(both) > 1e-9, 2 * (both - joint) / both, 0)
        return above_mean(others, shares, options.sigma)

    return _ask_by_target(view, budget, options, ask_context)


def ask_max_relevance(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Algorithms 2 and 4: the k most relevant attributes, picked one after another."""
    return _ask_contexts(view, budget, options, view.ask_relevant_attributes)


def ask_max_dependency(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Algorithms 2 and 5: the best set of k attributes, picked at once."""
    return _ask_contexts(view, budget, options, view.ask_relevant_context)


def ask_greedy_dependency(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Algorithm 2, and in place of Algorithm 5 one attribute after another: beyond the paper.

    Each is the one that, together with those before it, leaves the least entropy in the target.
    """

    def ask_one(name: str, target: int, size: int, rows: float, share: Share) -> Context:
        chosen: Context = ()
        for number, part in enumerate(share.split([1] * size), start=1):
            title = f"{name}, attribute {number}"
            chosen = view.ask_relevant_context(title, target, number, rows, part, chosen)
        return chosen

    return _ask_contexts(view, budget, options, ask_one)


def _ask_contexts(
    view: TableView, budget: Share, options: Options, ask_one: Callable[..., Context]
) -> MetricTables:
    published = isinstance(options, ContextOptions) and options.noise == "published"

    def ask_context(target: int, rows: float, size: int, share: Share) -> Context:
        paid = share.take(_PUBLISHED_SHARE) if published else share
        return ask_one(f"context of {view.names[target]}", target, size, rows, paid)

    return _ask_by_target(view, budget, options, ask_context)


def _context_size(
    view: TableView, target: int, rows: float, for_tables: Share, options: Options
) -> int:
    """Return how many attributes a context has: as many as the noise of their tables allows.

    All tables of a target share what is paid for them, so that one more blurs the others. Sizes,
    shares and the number of rows are public or noisy.
    """
    most = min(options.context_size, view.n_attributes - 1)
    if not options.fits_noise:
        return most
    others = np.delete(view.sizes, target).mean()
    per_value = rows / view.sizes[target]
    noise = [
        view.table_error(for_tables, size) * np.sqrt(others) / per_value
        for size in range(1, most + 1)
    ]
    return max(1, int(np.count_nonzero(np.array(noise) <= _MOST_NOISE)))


def _ask_by_target(
    view: TableView, budget: Share, options: Options, ask_context: ChooseContext
) -> MetricTables:
    """Algorithm 2 for every target."""
    for_count = budget.take(_COUNT_SHARE)
    number = view.ask_count("number of rows", for_count)
    rows = max(2.0, float(number.value[0]))
    contexts: dict[int, Context] = {}
    estimates: dict[int, Estimate] = {}
    errors = []
    rest = budget if view.n_rows_is_public else budget.remainder(for_count)
    shares = rest.split([1] * len(options.targets))
    for target, share in zip(options.targets, shares, strict=True):
        for_context = share.take(options.selection_share)
        for_tables = share.remainder(for_context)
        size = _context_size(view, target, rows, for_tables, options)
        chosen: Context = tuple(sorted(ask_context(target, rows, size, for_context)))
        name = f"tables of {view.names[target]}"
        tables = view.ask_pair_tables(name, [(target, other) for other in chosen], for_tables)
        contexts[target], estimates[target] = chosen, clip_tables(tables)
        errors.append(tables.standard_error)
    return MetricTables(contexts, estimates, float(np.median(errors)), number)


# The methods by the names that the paper's figures give them, and those that pay for every target.
METHODS: dict[str, LearningMethod] = {
    "baseline": ask_baseline,
    "mean-su": ask_mean_su,
    "max-relevance": ask_max_relevance,
    "max-dependency": ask_max_dependency,
    "greedy-dependency": ask_greedy_dependency,
}
BY_TARGET = ("mean-su", "max-relevance", "max-dependency", "greedy-dependency")


class PrivateContextDilca(PrivateDilca):
    """DP-DILCA of Battaglia, Celano and Pensa (2021): distances by privately chosen contexts.

    This is the published family, for comparison; :class:`privclust.PrivateDilca` has the same
    promise and better distances.

    Parameters
    ----------
    epsilon, delta, budget, schema
        See :class:`privclust.PrivateDilca`.
    method : str, default="max-relevance"
        ``"baseline"`` is Algorithm 1, which noises all pair tables; ``"mean-su"``,
        ``"max-relevance"`` and ``"max-dependency"`` are Algorithm 2 with contexts chosen by
        Algorithm 3, 4 or 5. ``"greedy-dependency"`` is ours: Algorithm 5, attribute by attribute.
    context_size : int or "auto", default=3
        k, the number of attributes in a context, where the method fixes it. ``"auto"``, which is
        ours, takes at most 3, and fewer where noise would hide their tables.
    selection_share : float, default=0.3
        h, the share of the budget that is spent on contexts.
    sigma : float, default=1.0
        The factor on the mean in ``"mean-su"``: attributes whose symmetric uncertainty is at least
        this many times the mean form the context.
    noise : {"exact", "published"}, default="exact"
        As much noise as the promise needs, or that of the paper's Algorithms 4 and 5, which is
        twice as much; the difference stays unspent. Those of Algorithms 1 and 3 are the same. The
        paper's is for ``unit="replace-row"`` and pure ε.
    budget_per_target : bool, default=False
        Whether the budget is meant for each single target, as in the paper's figures. The fit then
        promises, and charges, the total: for m targets m · ε, or m · ρ with δ, except with
        ``"baseline"``, which measures once for all targets.
    targets, ordinal, unit, random_state, ledger, dataset
        See :class:`privclust.PrivateDilca`.

    Attributes
    ----------
    metric_, contexts_, cell_error_, privacy_, warnings_, schema_, n_features_in_, feature_names_in_
        See :class:`privclust.PrivateDilca`.

    References
    ----------
    Battaglia, Celano, Pensa, "Differentially Private Distance Learning in Categorical Data" (2021).

    Examples
    --------
    >>> from privclust import Categories, Schema
    >>> schema = Schema({"city": Categories(["A", "B", "C"]), "car": Categories(["no", "yes"])})
    >>> rows = [["A", "yes"], ["B", "no"], ["C", "no"]]
    >>> model = PrivateContextDilca(epsilon=1.0, schema=schema, method="mean-su").fit(rows)
    >>> model.distance_matrix("city").shape
    (3, 3)
    """

    _methods: ClassVar[Any] = METHODS
    _parameters: ClassVar[Any] = DISTANCES.variants[1].parameters

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Declared | None = None,
        method: str = "max-relevance",
        context_size: int | Literal["auto"] = 3,
        selection_share: float = 0.3,
        sigma: float = 1.0,
        noise: Literal["exact", "published"] = "exact",
        budget_per_target: bool = False,
        targets: Sequence[str] | None = None,
        ordinal: Sequence[str] = (),
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.method = method
        self.context_size = context_size
        self.selection_share = selection_share
        self.sigma = sigma
        self.noise = noise
        self.budget_per_target = budget_per_target
        self.targets = targets
        self.ordinal = ordinal
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _budget(self) -> Budget:
        """Return the total: of all targets, if the budget is that of a single one."""
        budget = super()._budget()
        if not self.budget_per_target or self.method not in BY_TARGET:
            return budget
        n_targets = self._n_targets()
        if budget.delta:
            return Budget.of(Budget.of_rho(n_targets * budget.amount, budget.delta))
        return Budget.of(Budget(n_targets * budget.epsilon))

    def _n_targets(self) -> int:
        declared = self._declared_schema()
        if self.targets is not None:
            return max(1, len(tuple(self.targets)))
        if not isinstance(declared, Schema):
            raise ParameterError(
                "budget_per_target needs to know the targets before the data are opened; name them "
                "in targets, or declare every column in the schema."
            )
        return len(declared.names)

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.noise == "published":
            check_published(self.method, self._budget(), self.unit)

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
        options = super()._context_options(schema, targets)
        check_context(self.method, len(schema), options.context_size)
        return ContextOptions(**asdict(options), noise=self.noise)

    def _release_fields(self) -> dict[str, Any]:
        published = super()._release_fields()
        published["parameters"] |= {
            "selection_share": float(self.selection_share),
            "noise": self.noise,
            "budget_per_target": bool(self.budget_per_target),
        }
        return published


def check_published(method: str, budget: Budget, unit: Unit | str) -> None:
    """Raise where the paper has no noise of its own."""
    if method == "greedy-dependency":
        raise ParameterError(
            "No noise was published for greedy-dependency, which is not in the paper; take "
            'method="max-dependency", or leave noise="exact".'
        )
    if budget.delta:
        raise ParameterError('The paper has pure ε only; set delta=0, or leave noise="exact".')
    if not isinstance(unit_from(unit), ReplaceRow):
        raise ParameterError(
            'The noise of the paper is for one row in place of another; set unit="replace-row",'
            ' or leave noise="exact".'
        )


def check_context(method: str, n_columns: int, context_size: int) -> None:
    """Raise if Algorithm 5 would have to compare too many contexts."""
    if method in ("max-dependency", "greedy-dependency"):
        check_subsets(n_columns, context_size)
