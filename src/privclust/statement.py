"""The privacy statement of a release: what was protected, how strongly, and what was asked.

It travels with the release as plain data, and can be read without the library. Amounts are written
as fractions, so that a reader can add them up exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from privclust.budget import Budget, Loss, round_up
from privclust.privacy.meter import Charge
from privclust.privacy.statement import SEEDED, FitStatement


@dataclass(frozen=True, repr=False)
class PrivacyStatement(FitStatement):
    """What a release promises about the people in the data.

    Attributes
    ----------
    epsilon, delta : Fraction
        The promise: (ε, δ)-differential privacy.
    unit : dict
        The privacy unit as plain data; ``protects`` says it in words.
    protects : str
        What is protected, in words.
    queries : tuple of Charge
        Every question that was asked of the data, with its noise and its cost.
    flaws : tuple of str
        Why there is no promise at all, each reason a clause without a full stop: seeded noise, a
        step that learned from the same rows without noise, a choice made by exact scores. Empty
        for a private release.
    receipt : str or None
        The ledger's receipt, if the fit was charged to one.
    lists_flaws : bool
        False for the first releases, whose statement has no list of flaws: it is written as it was
        read, so that the digest of the release does not change.
    """

    lists_flaws: bool = True

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed."""
        return SEEDED in self.flaws

    @property
    def spent(self) -> Loss:
        """The composition of all queries."""
        return Loss.total(charge.loss for charge in self.queries)

    @property
    def paid_from(self) -> Budget:
        """The budget that the queries are paid from: the promise or, without a ledger, its ε alone.

        A ledger counts a fit with a δ by its ρ, so such a fit must be paid in ρ.
        """
        promised = Budget(self.epsilon, self.delta)
        return promised if self.receipt is not None else promised.paid_from(self.spent)

    @property
    def promise(self) -> str:
        """The promise in one line."""
        if not self.private:
            return f"NOT PRIVATE: {'; '.join(self.flaws)}."
        return f"differentially private with {loss_words(self.epsilon, self.delta)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        plain = {
            "private": self.private,
            "flaws": list(self.flaws),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "unit": dict(self.unit),
            "protects": self.protects,
            "queries": [plain_charge(charge) for charge in self.queries],
            "receipt": self.receipt,
        }
        if not self.lists_flaws:
            del plain["flaws"]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyStatement:
        """Read the statement back from :meth:`to_dict`."""
        queries = tuple(_charge(query) for query in plain["queries"])
        # The first statements listed no flaws; the one that they could have was a seed.
        flaws = plain.get("flaws", [] if plain["private"] else [SEEDED])
        if plain["private"] is not (not flaws):
            raise ValueError(
                "The privacy statement contradicts itself about whether it is private."
            )
        return cls(
            Fraction(plain["epsilon"]),
            Fraction(plain["delta"]),
            dict(plain["unit"]),
            plain["protects"],
            queries,
            tuple(flaws),
            plain["receipt"],
            lists_flaws="flaws" in plain,
        )

    def __repr__(self) -> str:
        # The mark comes last: scikit-learn's diagrams show the ends of a long repr.
        promise = self.promise if self.private else f"{'; '.join(self.flaws)}: NOT PRIVATE"
        return f"PrivacyStatement({promise})"

    def _sentence(self) -> str:
        return f"This release is {self.promise}." if self.private else self.promise

    def __str__(self) -> str:
        lines = [self._sentence(), self.protects]
        lines += [f"  {line}" for line in lines_of(self.queries)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the promise, and every question with its cost."""
        promise = self._sentence()
        said = f"<p><b>{escape(promise)}</b></p>" if self.private else html_alarm(promise)
        asked = html_charges(self.queries, self.paid_from.currency)
        return f"<div>{said}<p>{escape(self.protects)}</p>{asked}</div>"


def loss_words(epsilon: Fraction, delta: Fraction) -> str:
    """Return "ε = 1, δ = 1e-06", rounded up, so that no reader is promised more than is true."""
    shown, chance = (f"{float(round_up(part, 6)):g}" for part in (epsilon, delta))
    return f"ε = {shown}" + (f", δ = {chance}" if delta else "")


def lines_of(charges: Iterable[Charge]) -> Iterator[str]:
    """Yield a line for each query: its name, what it asks (said once) and the noise."""
    listed: set[str] = set()
    for charge in charges:
        parts = (charge.asks if charge.asks not in listed else "", charge.noise)
        words = "; ".join(part for part in parts if part)
        yield f"{charge.query} ({words})" if words else charge.query
        listed.add(charge.asks)


def html_charges(charges: Iterable[Charge], currency: str) -> str:
    """Return a table of questions: what each costs, what it asks, and its noise."""
    unit = "ε" if currency == "pure" else "ρ"
    lines = [
        (charge.query, f"{cost_in(charge, currency):.4g}", charge.asks, charge.noise)
        for charge in charges
    ]
    return html_table(lines, ("question", f"cost in {unit}", "asks", "noise"))


def cost_in(charge: Charge, currency: str) -> float:
    """Return what a question costs in ε or in ρ."""
    cost = charge.loss.pure if currency == "pure" else charge.loss.rho
    return float(cost or 0)


def html_table(lines: Iterable[Sequence[str]], headings: Sequence[str] = ()) -> str:
    """Return a small table for a notebook; without headings the first cells are such."""
    left = " style='text-align:left'"
    head = "".join(f"<th{left}>{escape(word)}</th>" for word in headings)
    body = []
    for first, *rest in lines:
        kind = "td" if headings else "th"
        cells = "".join(f"<td{left}>{escape(cell)}</td>" for cell in rest)
        body.append(f"<tr><{kind}{left}>{escape(first)}</{kind}>{cells}</tr>")
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{''.join(body)}</table>"


def html_alarm(words: str) -> str:
    """Return a paragraph that nobody overlooks."""
    style = "background:#b3261e;color:#fff;padding:.3em .6em;font-weight:bold"
    return f"<p style='{style}'>{escape(words)}</p>"


def plain_charge(charge: Charge) -> dict[str, Any]:
    """Return a charge as plain data, its amounts as fractions."""
    pure = None if charge.loss.pure is None else str(charge.loss.pure)
    plain = {
        "query": charge.query,
        "asks": charge.asks,
        "noise": charge.noise,
        "pure": pure,
        "rho": str(charge.loss.rho),
    }
    if not charge.asks:  # a query of 0.1 is written as it was read, so that digests do not change
        del plain["asks"]
    return plain


def _charge(plain: Mapping[str, Any]) -> Charge:
    """Read a charge back."""
    pure = None if plain["pure"] is None else Fraction(plain["pure"])
    loss = Loss(pure, Fraction(plain["rho"]))
    return Charge(plain["query"], loss, plain["noise"], plain.get("asks", ""))
