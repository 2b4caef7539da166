"""``CategoricalEstimator``: what the private estimators with a learned metric share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from privclust.categorical.declared import Declared, check_width
from privclust.categorical.learning import METHODS, method_for
from privclust.categorical.plan import NOISE, synthetic
from privclust.categorical.predicting import MetricMixin
from privclust.categorical.release import release_arrays
from privclust.categorical.result import Learning, Options
from privclust.data.table.door import TableRows
from privclust.data.table.public import check_subsets
from privclust.estimator import PrivateEstimator
from privclust.exceptions import SchemaError
from privclust.opening.rows import Opened, PublicFacts, open_table
from privclust.parameters import fraction, one_of, positive, whole
from privclust.plan import Plan, rehearse
from privclust.schema import Bins, Box, Categories, Schema
from privclust.unit import Unit, row_unit, unit_from

__all__ = ["CategoricalEstimator"]

_RULES = ("max-relevance", "mean-su", "relevant-non-redundant", "all")
_NOTHING_DECLARED = (
    "No categories are declared; pass a schema that lists the values of every column, from public "
    "knowledge and never from the data."
)


class CategoricalEstimator(MetricMixin, PrivateEstimator):
    """What the private estimators with a learned categorical metric share."""

    _kind = "categorical"
    _checks: ClassVar[Any] = {
        "method": one_of("auto", *METHODS),
        "context_rule": one_of(*_RULES),
        "context_size": whole(),
        "sigma": positive(),
        "selection_share": fraction(),
    }

    cell_error_: float
    unit: Unit | str
    method: str
    context_rule: str
    context_size: int
    # What a subclass without these parameters has.
    sigma: float = 1.0
    selection_share: float = 0.3

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 20 000 are made.
        n_features : int or None
            The number of columns, if the schema does not say.
        """
        self._check_parameters()
        whole()("n_rows", n_rows)
        schema, unit = self._planned(n_features), row_unit(self.unit)
        every = method_for(self.method, self._budget().currency) in ("pairs", "baseline")
        return rehearse(
            self,
            lambda _: synthetic(schema, int(n_rows), unit, every_pair=every),
            n_rows=int(n_rows),
            measure=NOISE,
            known={"schema": schema},
            times=1,  # the noise does not depend on the rows
        )

    def _planned(self, n_features: int | None) -> Schema:
        declared = self._declared()
        if not isinstance(declared, Schema) and n_features is None:
            raise SchemaError("One fact does not say how many columns there are; give n_features.")
        return Schema.of(declared, names=[f"x{i}" for i in range(n_features or 0)])

    def _declared(self) -> Declared:
        """Return the schema, or the facts that hold for columns without a name."""
        if self.schema is None:
            raise SchemaError(_NOTHING_DECLARED)
        if isinstance(self.schema, (Bins, Box, Categories, list, tuple)):
            return self.schema  # type: ignore[return-value]  # the door refuses a Box
        return Schema.of(self.schema)

    def _check_together(self) -> None:
        declared = self._declared()
        if isinstance(declared, Schema):
            check_width(declared)

    def _open(self, X: Any, public: Any = None) -> Opened:
        return open_table(X, self._declared(), unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> TableRows:
        return TableRows(opened)

    def _look_ahead(self, door: TableRows, public: Any = None) -> None:
        self._options(door.schema)

    def _options(self, schema: Schema) -> Options:
        """Return the choices of the methods; raise if the schema does not allow them."""
        return self._context_options(schema, schema.names)

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
        check_width(schema)
        if self.method == "max-dependency":
            check_subsets(len(schema), int(self.context_size))
        return Options(
            targets=tuple(schema.names.index(name) for name in targets),
            context_size=int(self.context_size),
            selection_share=self.selection_share,
            rule=self.context_rule,
            sigma=float(self.sigma),
        )

    def _keep_metric(self, facts: PublicFacts, learning: Learning) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self.metric_ = facts.schema, learning.metric
        parts = learning.metric.attributes
        self.contexts_ = {name: part.context for name, part in parts.items()}
        self.cell_error_ = learning.learned.cell_error

    def _published(self) -> dict[str, Any]:
        return {
            "arrays": release_arrays(self.metric_, self.schema_, self.cell_error_),
            "schema": self.schema_,
            "parameters": {
                "method": self.method,
                "context_rule": self.context_rule,
                "context_size": int(self.context_size),
                "sigma": float(self.sigma),
                "selection_share": float(self.selection_share),
            },
        }

    def _ignored(self) -> Sequence[str]:
        id_column = row_unit(self.unit).id_column
        return [] if id_column is None else [id_column]
