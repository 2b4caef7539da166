"""The report of a release: one HTML page for readers who know no differential privacy.

The page is made from released values alone, loads nothing from elsewhere and runs no script. What
every kind of release has in common is here; a kind adds its own pictures through its template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privclust.budget import Budget
from privclust.privacy.statement import PrivacyStatement
from privclust.release.kinds import kind_named
from privclust.reports.promise import decimal, percent, promise_in_words
from privclust.schema import Box

if TYPE_CHECKING:
    from privclust.privacy.loss import Loss
    from privclust.release.release import Release

__all__ = ["html_report"]

_MOST_GROUPS = 8  # as many colours as a reader can tell apart
_MOST_OPEN_ROWS = 25
# "cell counts, round 2 of 3" belongs to "cell counts, each round", "mean (1)" to "mean".
_ROUND = re.compile(r"\b(round|step|iteration|pass|part)\s*\d+(\s*(of|/)\s*\d+)?", re.IGNORECASE)
_NUMBER = re.compile(r"[\s,;(\[#-]*\d+[)\]]*\s*$")
_POWER = re.compile(r"\b(e|10)\^(ε|\d+)")


@dataclass(frozen=True)
class _Part:
    """A part of the budget, as drawn in the bar."""

    name: str
    share: float
    queries: int

    @property
    def percent(self) -> str:
        return percent(self.share) if self.share < 1 else "100 %"


def html_report(release: Release) -> str:
    """Return the report of a release as one self-contained HTML page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("privclust", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["inline"] = Markup  # for our own SVG only, whose text is escaped
    environment.filters["powers"] = lambda text: Markup(  # noqa: S704
        _POWER.sub(r"\1<sup>\2</sup>", str(escape(text)))
    )
    return environment.get_template("reports/page.html.j2").render(_context(release))


def _context(release: Release) -> dict[str, Any]:
    kind, privacy = kind_named(release.kind), release.privacy
    sizes = release.arrays.get("cluster_sizes")
    return {
        "release": release,
        "title": kind.title,
        "facts": kind.summary(release),
        "privacy": privacy,
        "epsilon": decimal(privacy.epsilon),
        "promise": promise_in_words(privacy, None if sizes is None else float(sizes.sum())),
        "currency": "ρ" if privacy.delta else "ε",
        "parts": _parts(privacy),
        "queries": _queries(privacy),
        "many_queries": len(privacy.queries) > _MOST_OPEN_ROWS,
        "columns": _columns(release),
        "many_columns": len(release.schema) > _MOST_OPEN_ROWS,
        "parameters": {name: _said(value) for name, value in release.parameters.items()},
        "kind_template": kind.template,
        "kind": kind.context(release) if kind.context else {},
    }


def _cost(loss: Loss, privacy: PrivacyStatement) -> Fraction:
    """Return a cost in the currency of the budget."""
    cost = loss.rho if privacy.delta else loss.pure
    return Fraction(0) if cost is None else cost


def _grouped(privacy: PrivacyStatement) -> dict[str, list[Fraction]]:
    """Return the costs of queries that differ by a counter only, by their common name."""
    groups: dict[str, dict[str, list[Fraction]]] = {}
    for charge in privacy.queries:
        common = _NUMBER.sub("", _ROUND.sub(r"each \1", charge.query)) or charge.query
        same = groups.setdefault(common, {})
        same.setdefault(charge.query, []).append(_cost(charge.loss, privacy))
    return {
        common if len(same) > 1 else next(iter(same)): [c for costs in same.values() for c in costs]
        for common, same in groups.items()
    }


def _parts(privacy: PrivacyStatement) -> list[_Part]:
    """Return the parts of the budget in the order of the queries; what is left comes last."""
    whole = Budget(privacy.epsilon, privacy.delta).amount
    groups = _grouped(privacy)
    largest = sorted(groups, key=lambda name: -sum(groups[name]))
    if len(largest) > _MOST_GROUPS:
        largest = largest[: _MOST_GROUPS - 1]
    rest = [cost for name, costs in groups.items() if name not in largest for cost in costs]
    shown = {name: costs for name, costs in groups.items() if name in largest}
    if rest:
        shown["everything else"] = rest
    parts = [
        _Part(name, float(sum(costs, Fraction(0)) / whole), len(costs))
        for name, costs in shown.items()
    ]
    left = whole - sum((sum(costs, Fraction(0)) for costs in groups.values()), Fraction(0))
    # Costs are rounded up and grants down, so a sliver is left even when all is spent.
    if left > whole / 10_000:
        parts.append(_Part("not spent", float(left / whole), 0))
    return parts


def _queries(privacy: PrivacyStatement) -> list[dict[str, str]]:
    whole = Budget(privacy.epsilon, privacy.delta).amount
    return [
        {
            "query": charge.query,
            "noise": charge.noise or "—",
            "cost": decimal(_cost(charge.loss, privacy)),
            "exact": str(_cost(charge.loss, privacy)),
            "share": percent(float(_cost(charge.loss, privacy) / whole)),
        }
        for charge in privacy.queries
    ]


def _columns(release: Release) -> list[dict[str, str]]:
    """Return what was declared about each column, in words."""
    columns = []
    for name, fact in release.schema.columns.items():
        if isinstance(fact, Box):
            told = f"{fact.low:g} to {fact.high:g}"
        else:
            told = f"{fact.size} categories"
        columns.append({"name": name, "declared": told, "missing": _said(fact.missing)})
    return columns


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "—"
    return f"{value:g}" if isinstance(value, float) else str(value)
