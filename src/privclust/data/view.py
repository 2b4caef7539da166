"""What the private views share: a question is paid for before rows are read, then noised once.

A view is a short closed list of questions. Each names a kernel, what the kernel declares about one
row, and a share of the budget; :meth:`View._ask` does the rest. Mechanisms are made and drawn from
only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from privclust._typing import Integers
from privclust.budget import Loss, Share
from privclust.data.engines.base import CountedSum, EncodedRows
from privclust.data.public import Noisy
from privclust.data.question import Asked, Pick, Question
from privclust.privacy.mechanisms import (
    AdditiveNoise,
    BallLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NoisyTopK,
    Selection,
    choose_additive_noise,
    choose_selection,
)
from privclust.privacy.meter import Charge, Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import Unit
from privclust.unit.base import UnitStep

NumberNoise = DiscreteGaussian | DiscreteLaplace

# The limit of the samplers' scores; entropies of some 10^9 rows exceed it.
_LARGEST_SCORE = 2**52


@dataclass(frozen=True)
class Noised:
    """A question and the noise that a share buys for it."""

    question: Question
    noise: AdditiveNoise

    @classmethod
    def within(cls, question: Question, share: Share, step: UnitStep) -> Noised:
        """Return the least noise for what a step between neighbours changes."""
        size = question.term.over(step)
        if question.dimension and share.currency == "pure":
            return cls(question, BallLaplace.within(share, Fraction(size.length)))
        l1, square = Fraction(size.l1), Fraction(size.square)
        noise = choose_additive_noise(share, l1_sensitivity=l1, squared_l2_sensitivity=square)
        return cls(question, noise)

    @property
    def standard_error(self) -> float:
        """The standard error of each entry, once noised."""
        return self.noise.standard_error(self.question.dimension) * self.question.step

    @property
    def loss(self) -> Loss:
        """What the answer costs."""
        return self.noise.loss

    @property
    def words(self) -> str:
        """The noise, for the privacy statement."""
        return f"{self.noise.title}, standard error {self.standard_error:.3g}"

    def draw(self, exact: Integers, source: NoiseSource) -> Noisy:
        """Return the answer."""
        noisy = self.noise.draw(exact, source).astype(np.float64)
        return Noisy(noisy * self.question.step, self.standard_error)


@dataclass(frozen=True)
class Picked:
    """A pick and the selection that a share buys for each of its turns."""

    pick: Pick
    selection: Selection

    @classmethod
    def within(cls, pick: Pick, share: Share, step: UnitStep) -> Picked:
        """Return the sharpest selection for how far a step between neighbours moves scores."""
        spread = Fraction(pick.term.over(step))
        if pick.top is not None:
            return cls(pick, NoisyTopK.within(share, spread, pick.top))
        if pick.turns > 1:
            share = share.split([1] * pick.turns)[0]
        if pick.bounded:
            return cls(pick, Exponential.within(share, spread))
        return cls(pick, choose_selection(share, score_range=spread))

    @property
    def loss(self) -> Loss:
        """What all turns cost together."""
        return self.selection.loss.times(self.pick.turns)

    @property
    def words(self) -> str:
        """How it is picked, for the privacy statement."""
        scale, epsilon = float(self.selection.scale), float(self.selection.epsilon)
        return self.pick.words.format(title=self.selection.title, scale=scale, epsilon=epsilon)

    def draw(self, exact: Integers, source: NoiseSource) -> Integers:
        """Return what is picked: a candidate for each row of scores, or one in each turn.

        Scores are clipped to the range of the samplers, because an error would reveal something.
        """
        scores = np.clip(exact, -_LARGEST_SCORE, _LARGEST_SCORE)
        if self.pick.left is None:
            return self.selection.draw(scores, source)
        picks: list[int] = []
        for _ in range(self.pick.turns):
            left = self.pick.left(picks)
            picks.append(left[int(self.selection.draw(scores[:, left], source)[0])])
        return np.array(picks, np.int64)


class View:
    """Data that answer questions only through noise."""

    # What each question asks in plain words, by the name of its method or of the part of the
    # answer; plans, statements and reports show it, and the reference lists it.
    asks: ClassVar[dict[str, str]] = {}
    _rows: EncodedRows

    def __init__(self, unit: Unit, meter: Meter, noise: NoiseSource) -> None:
        self._unit = unit
        self._meter = meter
        self._noise = noise

    def pure_share(self, share: Share) -> Share | None:
        """Return pure ε that may be spent in place of ``share``, or None; see the meter."""
        return self._meter.pure_share(share)

    def _ask(self, kernel: Any, *paid: tuple[str, Asked, Share]) -> list[Any]:
        """Charge all parts of a question together, read once, and draw.

        ``kernel``: what is added up over the rows. ``*paid``: what a part is called in the privacy
        statement, what the kernel declares about it, and what to pay. For each part a noisy answer,
        or what was picked.

        Notes
        -----
        *Why this is private.* Mechanisms are made for what a step between neighbours changes, and
        are charged, all of them or none, before a row is read. See ``proofs/question.md``.
        """
        made = [self._within(asked, share) for _, asked, share in paid]
        self._meter.charge_all(
            [
                Charge(name, mechanism.loss, mechanism.words, self.asks[asked.of])
                for (name, asked, _), mechanism in zip(paid, made, strict=True)
            ]
        )
        exact = self._sum(kernel)
        return [
            mechanism.draw(asked.held(asked.part(exact.total), exact.n_rows), self._noise)
            for (_, asked, _), mechanism in zip(paid, made, strict=True)
        ]

    def _answer(
        self, name: str, kernel: Any, share: Share, question: Question | None = None
    ) -> Noisy:
        """Ask one question, that of the kernel unless another is given."""
        noisy: Noisy
        (noisy,) = self._ask(kernel, (name, question or kernel.question, share))
        return noisy

    def _parts(
        self, name: str, kernel: Any, shares: Mapping[str, Share | None]
    ) -> dict[str, Noisy]:
        """Ask the parts of a kernel that are paid for."""
        paid = {part: share for part, share in shares.items() if share is not None}
        asked = kernel.questions
        parts = [(f"{name}: {part}", asked[part], share) for part, share in paid.items()]
        return dict(zip(paid, self._ask(kernel, *parts), strict=True))

    def _within(self, asked: Asked, share: Share) -> Noised | Picked:
        if isinstance(asked, Pick):
            return Picked.within(asked, share, self._unit.one_step)
        return Noised.within(asked, share, self._unit.one_step)

    def _noise_of(self, question: Question, share: Share) -> Noised:
        """Return the noise that a share would buy, for planning; no row is read."""
        return Noised.within(question, share, self._unit.one_step)

    def _number_noise(self, question: Question, share: Share) -> NumberNoise:
        """Return the noise of numbers that are noised one by one, with its tails."""
        return cast(NumberNoise, self._noise_of(question, share).noise)

    def _sum(self, kernel: Any) -> CountedSum[Any]:
        """Add up a kernel over all rows."""
        return self._rows.sum(kernel)
