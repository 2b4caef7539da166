"""The report of a release: one HTML page for readers new to differential privacy.

The page is made from released values alone, loads nothing from elsewhere and runs no script. What
every kind of release has in common is here; a kind adds its own pictures through its template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from privclust.reports.promise import explain_promise
from privclust.reports.values import column_label, counted_missing, describe_range, missing_words
from privclust.reports.words import decimal, percent
from privclust.statement import PrivacyStatement

if TYPE_CHECKING:
    from jinja2 import Environment

    from privclust.budget import Loss
    from privclust.release.kinds import ReleaseKind
    from privclust.release.release import Release


# Templates of pages are loaded, escaped and filled in only here.

_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")  # kept on one line
_POWER = re.compile(r"\b(e|10)\^(ε|\(2ε\)|\d+)")


def render(template: str, values: dict[str, Any]) -> str:
    """Return a page; every value is escaped, and an undefined name is an error.

    ``template``: the path of the template within the package, such as ``"reports/page.html.j2"``.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("privclust", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # they are part of the package, and checking would slow down every page
    )
    environment.filters["inline"] = Markup  # for our own SVG only, whose text is escaped
    environment.filters["powers"] = lambda text: Markup(  # noqa: S704
        _POWER.sub(r"\1<sup>\2</sup>", str(escape(text)))
    )
    environment.filters["dates"] = lambda text: Markup(  # noqa: S704
        _DATE.sub(r'<span class="date">\g<0></span>', str(escape(text)))
    )
    environment.filters["sentence"] = lambda text: f"{text[:1].upper()}{text[1:].rstrip('.')}."
    return environment


Signed = dict[str, str]

_MOST_GROUPS = 8  # as many colours as a reader can tell apart
# "cell counts, round 2 of 3" belongs to "cell counts, each round", "mean (1)" to "mean".
_ROUND = re.compile(r"\b(round|step|iteration|pass|part)\s*\d+(\s*(of|/)\s*\d+)?", re.IGNORECASE)
_NUMBER = re.compile(r"[\s,;(\[#-]*\d+[)\]]*\s*$")
# Notes that help only those who declare the columns and spend the budget.
_OF_PUBLISHERS = ("bounds-loose", "far-rows-missed", "k-unclear", "spread-hidden")
_COST = re.compile(r" at this (budget|ε)|^At this budget ")  # which a reader cannot change
_ABOUT = {"dataset": "Data", "holder": "Holder", "contact": "Contact", "purpose": "Purpose"}


@dataclass(frozen=True)
class _BudgetPart:
    """A part of the budget, as drawn in the bar."""

    name: str
    share: float
    queries: int

    @property
    def percent(self) -> str:
        return percent(self.share) if self.share < 1 else "100 %"


def html_report(release: Release, kind: ReleaseKind, signature: Signed | None) -> str:
    """Return the report of a release as one self-contained HTML page.

    ``kind``: what is specific to releases of its kind. ``signature``: the key that signed it, and
    whether the signature matches.
    """
    return render("reports/page.html.j2", _context(release, kind, signature))


def _context(release: Release, kind: ReleaseKind, signature: Signed | None) -> dict[str, Any]:
    privacy, shown = release.privacy, kind.context_of(release)
    return {
        "release": release,
        "title": kind.title,
        "about": _about(release),
        "facts": release.facts().summary,
        "privacy": privacy,
        "epsilon": decimal(privacy.epsilon),
        "promise": explain_promise(privacy, _noisy_rows(release)),
        "currency": "ε" if privacy.paid_from.currency == "pure" else "ρ",
        "parts": _parts(privacy),
        "queries": _queries(privacy),
        "asks": any(charge.asks for charge in privacy.queries),  # not in releases of 0.1
        "columns": _columns(release),
        **_told(release, found=bool(shown.get("found", True))),
        "parameters": {
            name: _fact_phrase(value)
            for name, value in release.parameters.items()
            if name not in ("notes", "warnings")
        },
        "signature": signature,
        "kind_template": kind.template,
        "kind_details": kind.details,
        "kind": shown,
    }


def _about(release: Release) -> list[tuple[str, str]]:
    """Return what the publisher says under the title."""
    lines = release.about.lines
    return [(_ABOUT[name], text) for name, text in lines.items() if name in _ABOUT]


def _noisy_rows(release: Release) -> float | None:
    """Return the released number of rows, if there is one."""
    for name in ("cluster_sizes", "source_counts", "n_rows"):
        if name in release.arrays:
            return float(release.arrays[name].sum())
    return None


def _cost(loss: Loss, privacy: PrivacyStatement) -> Fraction:
    """Return a cost in the currency that was spent."""
    cost = loss.pure if privacy.paid_from.currency == "pure" else loss.rho
    return Fraction(0) if cost is None else cost


def _group_costs(privacy: PrivacyStatement) -> dict[str, list[Fraction]]:
    """Return the costs of queries that differ only by a counter, by their common name."""
    groups: dict[str, dict[str, list[Fraction]]] = {}
    for charge in privacy.queries:
        common = _NUMBER.sub("", _ROUND.sub(r"each \1", charge.query)) or charge.query
        same = groups.setdefault(common, {})
        same.setdefault(charge.query, []).append(_cost(charge.loss, privacy))
    return {
        common if len(same) > 1 else next(iter(same)): [c for costs in same.values() for c in costs]
        for common, same in groups.items()
    }


def _parts(privacy: PrivacyStatement) -> list[_BudgetPart]:
    """Return the parts of the budget in the order of the queries; what is left comes last."""
    whole = privacy.paid_from.amount
    groups = _group_costs(privacy)
    largest = sorted(groups, key=lambda name: -sum(groups[name]))
    if len(largest) > _MOST_GROUPS:
        largest = largest[: _MOST_GROUPS - 1]
    rest = [cost for name, costs in groups.items() if name not in largest for cost in costs]
    shown = {name: costs for name, costs in groups.items() if name in largest}
    if rest:
        shown["everything else"] = rest
    parts = [
        _BudgetPart(name, float(sum(costs, Fraction(0)) / whole), len(costs))
        for name, costs in shown.items()
    ]
    left = whole - sum((sum(costs, Fraction(0)) for costs in groups.values()), Fraction(0))
    # Costs are rounded up and grants down, so a sliver is left even when all is spent.
    if left > whole / 10_000:
        parts.append(_BudgetPart("not spent", float(left / whole), 0))
    return parts


def _queries(privacy: PrivacyStatement) -> list[dict[str, str]]:
    whole = privacy.paid_from.amount
    return [
        {
            "query": charge.query,
            "asks": charge.asks,
            "noise": charge.noise or "—",
            "cost": decimal(_cost(charge.loss, privacy)),
            "exact": str(_cost(charge.loss, privacy)),
            "share": percent(float(_cost(charge.loss, privacy) / whole)),
        }
        for charge in privacy.queries
    ]


def _told(release: Release, *, found: bool) -> dict[str, list[str]]:
    """Return reasons to doubt the release, first if noise hides a part of what was found.

    What would help is told to those who fit, on the terminal: a reader cannot do it. It is what
    follows the last semicolon of a note.
    """
    parameters = release.parameters
    texts = [str(text) for text in parameters.get("warnings", [])]
    codes = parameters.get("notes", [""] * len(texts))
    told = [
        f"{_COST.sub('', text.rpartition('; ')[0] or text.rstrip('.'))}."
        for code, text in zip(codes, texts, strict=True)
        if code not in _OF_PUBLISHERS
    ]
    first = found and release.signal == "hidden"
    return {"told_first": told if first else [], "told": [] if first else told}


def _columns(release: Release) -> list[dict[str, str]]:
    """Return what was declared about each column, in words."""
    counted = counted_missing(release)
    return [
        {
            "name": name if column_label(name, fact) == name.replace("_", " ")
            else f"{column_label(name, fact)} ({name})",
            "description": fact.description,
            "declared": describe_range(fact),
            "missing": missing_words(name, fact, counted),
        }
        for name, fact in release.schema.columns.items()
    ]  # fmt: skip


def _fact_phrase(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "—"
    return f"{value:g}" if isinstance(value, float) else str(value)
