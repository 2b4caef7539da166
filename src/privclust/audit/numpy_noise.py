"""Transcripts of code that draws its noise from NumPy.

Such code adds noise to exact values in its own words: ``count + rng.laplace(scale=s)``. While it is
watched, generators hand out :class:`Noise`, an array that knows which random numbers it holds and
by what they were multiplied. Where it meets other values in a sum, these are the exact ones: they
are noted, and in a replay the sum is the one that was recorded. So one random number that is added
to several values, or twice, is seen for what it is: differences it cannot hide.

Followed are Laplace and normal noise through sums, differences, products with and quotients by
public numbers, slices, ``reshape`` and ``T``; ``argmax`` of scores with Gumbel noise; ``choice``
with chances. Other random numbers are the same in record and replay, as public ones may be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from privclust._typing import AnyArray, Floats
from privclust.audit.transcripts import DivergedError
from privclust.budget import Loss

_SEED = 20_260_217  # any: record and replay must start alike
_ROUNDING = 1e-9  # sums of floats in another order may differ by so much, relatively


@dataclass(eq=False)
class _Use:
    """One sum of exact values and noise: answer = exact + factor · number."""

    exact: Floats
    numbers: AnyArray  # which random numbers of the draw
    factors: Floats
    answer: Any


@dataclass(eq=False)
class NumPyDraw:
    """Random numbers that were drawn in one call, and the sums in which they were used."""

    title: str
    scale: Floats
    shape: tuple[int, ...]
    uses: list[_Use] = field(default_factory=list)
    allowed: None = None  # NumPy is told no sensitivity

    def asks_like(self, twin: NumPyDraw) -> bool:
        """Return whether both drew alike and used it alike, whatever the exact values."""
        return (
            self.title == twin.title
            and self.shape == twin.shape
            and np.array_equal(self.scale, twin.scale)
            and len(self.uses) == len(twin.uses)
            and all(_used_alike(*pair) for pair in zip(self.uses, twin.uses, strict=True))
        )

    def change(self, twin: NumPyDraw) -> float:
        """Return how far the exact values of the two are apart, added up."""
        pairs = zip(self.uses, twin.uses, strict=True)
        return math.fsum(float(np.abs(one.exact - two.exact).sum()) for one, two in pairs)

    def loss(self, twin: NumPyDraw) -> Loss | None:
        """Return by how much the answers can tell the two apart; None if with certainty."""
        if self.title in _PICKS:
            return self._loss_of_picks(twin)
        shifts = self._shifts(twin)
        if shifts is None:
            return None
        scale = np.broadcast_to(self.scale, self.shape).ravel()
        moved = shifts != 0
        if np.any(scale[moved] == 0):
            return None
        steps = np.abs(shifts[moved]) / scale[moved]
        if self.title == "Laplace noise":
            return Loss.of_pure(_fraction(math.fsum(steps)))
        return Loss(None, _fraction(math.fsum(steps**2) / 2))

    def _shifts(self, twin: NumPyDraw) -> Floats | None:
        """Return by how much each random number would have to differ, or None if none can."""
        low = np.full(math.prod(self.shape), np.inf)
        high = -low
        for one, two in zip(self.uses, twin.uses, strict=True):
            difference = one.exact - two.exact
            same = (one.exact == two.exact) | (np.isnan(one.exact) & np.isnan(two.exact))
            difference = np.where(same, 0.0, difference)
            if not np.all(np.isfinite(difference)) or np.any(difference[one.factors == 0]):
                return None
            shift = difference / np.where(one.factors == 0, 1.0, one.factors)
            np.minimum.at(low, one.numbers, shift)
            np.maximum.at(high, one.numbers, shift)
        used = np.isfinite(low)
        if not np.allclose(low[used], high[used], rtol=_ROUNDING, atol=1e-12):
            return None
        return np.where(used, low, 0.0)

    def _loss_of_picks(self, twin: NumPyDraw) -> Loss | None:
        total = Loss.total([])
        for one, two in zip(self.uses, twin.uses, strict=True):
            if self.title == _CHOICE:
                if np.any((one.exact == 0) != (two.exact == 0)):
                    return None
                kept = one.exact > 0
                ratios = np.log(one.exact[kept] / two.exact[kept])
                pure, width = np.abs(ratios).max(), np.ptp(ratios)
                picks = np.size(one.answer)
                total += Loss(_fraction(pure), _fraction(width**2 / 8)).times(picks)
            else:
                width = float(np.ptp((one.exact - two.exact) / (one.factors * self.scale)))
                if not math.isfinite(width):
                    return None
                total += Loss.of_bounded_range(_fraction(width))
        return total


_CHOICE, _GUMBEL = "choice with chances", "largest of scores with Gumbel noise"
_PICKS = (_CHOICE, _GUMBEL)


def _used_alike(one: _Use, two: _Use) -> bool:
    return (
        one.exact.shape == two.exact.shape
        and np.array_equal(one.numbers, two.numbers)
        and np.allclose(one.factors, two.factors, rtol=_ROUNDING, atol=0)
    )


def _fraction(value: float) -> Fraction:
    # Rounding errors of sums stay below this many digits.
    return Fraction(f"{value:.12g}")


class Noise(np.ndarray):
    """Random numbers of one draw, each times a factor, that wait for what they will hide.

    What is done to it beyond what can be followed makes plain numbers of it. These hide nothing
    in the eyes of a replay, which then finds a fault rather than overlook one.
    """

    tape: Any = None  # None makes plain numbers of it
    draw: NumPyDraw
    numbers: AnyArray
    factors: Floats

    @classmethod
    def of(cls, tape: _Tape, draw: NumPyDraw, values: Any, numbers: Any, factors: Any) -> Noise:
        """Return values together with which random numbers they are, and times what."""
        made = np.asarray(values, float).view(cls)
        made.tape, made.draw = tape, draw
        made.numbers = np.asarray(numbers)
        made.factors = np.broadcast_to(np.asarray(factors, float), made.numbers.shape)
        return made

    def _reform(self, form: Any) -> Any:
        if self.tape is None:
            return form(np.asarray(self))
        parts = (form(np.asarray(self)), form(self.numbers), form(self.factors))
        return Noise.of(self.tape, self.draw, *parts)

    def __getitem__(self, item: Any) -> Any:
        return self._reform(lambda part: part[item])

    def __setitem__(self, item: Any, value: Any) -> None:
        self.tape = None
        np.asarray(self)[item] = value

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    def reshape(self, *shape: Any, **more: Any) -> Any:
        """Return the same numbers in another shape."""
        return self._reform(lambda part: part.reshape(*shape, **more))

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The same numbers, transposed."""
        return self._reform(lambda part: part.T)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **more: Any
    ) -> Any:
        noises = [part for part in inputs if isinstance(part, Noise) and part.tape is not None]
        if method == "__call__" and len(noises) == 1 and not more:
            answer = noises[0]._follow(ufunc, inputs)
            if answer is not None:
                return answer if out is None else _write(answer, out[0])
        plain = [np.asarray(part) if isinstance(part, Noise) else part for part in inputs]
        if out is None:
            return getattr(ufunc, method)(*plain, **more)
        for part in out:
            if isinstance(part, Noise):
                part.tape = None
        plain_outs = tuple(np.asarray(part) for part in out)
        return getattr(ufunc, method)(*plain, out=plain_outs, **more)

    def _follow(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
        """Return a sum with exact values, a multiple of the noise, or None if it is neither."""
        if len(inputs) == 1:
            return self._times(-1.0) if ufunc is np.negative else None
        first = inputs[0] is self
        other = inputs[1] if first else inputs[0]
        if ufunc is np.multiply:
            return self._times(other)
        if ufunc is np.divide and first:
            return self._times(1 / np.asarray(other, float))
        if ufunc is np.add:
            return self.tape.add(self, other)
        if ufunc is np.subtract:
            return self.tape.add(self, np.negative(other)) if first else -self + other
        return None

    def _times(self, factor: Any) -> Noise:
        values = np.asarray(self) * factor
        numbers = np.broadcast_to(self.numbers, values.shape)
        return Noise.of(self.tape, self.draw, values, numbers, self.factors * np.asarray(factor))


def _write(answer: Any, out: Any) -> Any:
    """Write an answer where it was wanted: a sum is plain, a multiple of noise is still noise."""
    np.asarray(out)[...] = np.asarray(answer)
    if isinstance(out, Noise):
        out.tape = getattr(answer, "tape", None)
        if isinstance(answer, Noise):
            out.draw, out.numbers, out.factors = answer.draw, answer.numbers, answer.factors
    return out if isinstance(out, Noise) or not isinstance(answer, Noise) else answer


class _Scores(np.ndarray):
    """Scores with Gumbel noise, of which only the place of the largest may be told."""

    pick: Any = None

    def argmax(self, axis: Any = None, out: Any = None, **more: Any) -> Any:
        """Return the place of the largest score: one draw of the exponential mechanism."""
        if self.pick is None or axis is not None:
            return np.asarray(self).argmax(axis, out, **more)
        return self.pick(int(np.asarray(self).argmax()))


class _Tape:
    """The draws of a run, and in a replay those that it must repeat."""

    def __init__(self, recorded: Sequence[NumPyDraw] | None = None) -> None:
        self.recorded = recorded
        self.draws: list[NumPyDraw] = []

    def draw(self, title: str, values: Any, loc: Any, scale: Any) -> Any:
        """Return noise, or a sum with it if it was drawn around other values than zero."""
        shape = np.shape(values)
        scales = np.broadcast_to(np.asarray(scale, float), shape)
        made = self._made(NumPyDraw(title, scales, shape))
        numbers = np.arange(math.prod(shape)).reshape(shape)
        noise = Noise.of(self, made, np.subtract(values, loc), numbers, 1.0)
        return noise if isinstance(loc, (int, float)) and loc == 0 else noise + loc

    def _made(self, draw: NumPyDraw) -> NumPyDraw:
        self.draws.append(draw)
        if self.recorded is not None and len(self.draws) > len(self.recorded):
            raise DivergedError("More was drawn than was recorded.")
        return draw

    def add(self, noise: Noise, exact: Any) -> Any:
        """Return the sum of exact values and noise, and note it."""
        values = np.asarray(noise) + exact
        use = _Use(
            np.array(np.broadcast_to(np.asarray(exact, float), values.shape)),
            np.broadcast_to(noise.numbers, values.shape),
            np.broadcast_to(noise.factors, values.shape),
            values,
        )
        if noise.draw.title == _GUMBEL:
            scores = np.asarray(values).view(_Scores)
            scores.pick = lambda place: self._use(noise.draw, use, place)
            return scores
        return self._use(noise.draw, use, values)

    def choose(self, place: Any, chances: Any) -> Any:
        """Return the places that were chosen by these chances, and note it."""
        exact = np.asarray(chances, float)
        draw = self._made(NumPyDraw(_CHOICE, np.ones(()), exact.shape))
        return self._use(
            draw, _Use(exact, np.zeros(exact.shape, int), np.ones(exact.shape), 0), place
        )

    def _use(self, draw: NumPyDraw, use: _Use, answer: Any) -> Any:
        use.answer = answer
        draw.uses.append(use)
        if self.recorded is not None:
            twin = self.recorded[self.draws.index(draw)]
            if len(draw.uses) > len(twin.uses):
                raise DivergedError("Noise was used more often than was recorded.")
            use.answer = twin.uses[len(draw.uses) - 1].answer
        kept = use.answer
        return kept[()] if isinstance(kept, np.ndarray) and kept.ndim == 0 else np.copy(kept)[()]


class _Watched:
    """What a watched generator, of either kind, hands out in place of plain numbers."""

    tape: _Tape

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.tape.draw("Laplace noise", super().laplace(loc, scale, size), loc, scale)  # type: ignore[misc]

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.tape.draw("normal noise", super().normal(loc, scale, size), loc, scale)  # type: ignore[misc]

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.tape.draw(_GUMBEL, super().gumbel(loc, scale, size), loc, scale)  # type: ignore[misc]

    def standard_normal(self, size: Any = None, *more: Any, **options: Any) -> Any:
        return self.normal(size=size)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        *more: Any,
        **options: Any,
    ) -> Any:
        if p is None or not replace:
            return super().choice(a, size, replace, p, *more, **options)  # type: ignore[misc]
        count = a if np.ndim(a) == 0 else len(a)
        place = super().choice(count, size, p=np.asarray(p, float))  # type: ignore[misc]
        place = self.tape.choose(place, p)
        return place if np.ndim(a) == 0 else np.asarray(a)[place]


class _Generator(_Watched, np.random.Generator):
    pass


class _RandomState(_Watched, np.random.RandomState):
    def randn(self, *shape: int) -> Any:
        return self.normal(size=shape or None)


class _Kind(type):
    """Lets a watched class count every instance of the class that it stands for as its own."""

    stands_for: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.stands_for)


_LEGACY = ("laplace", "normal", "gumbel", "standard_normal", "randn", "choice", "seed")


@contextmanager
def _watch(tape: _Tape) -> Iterator[None]:
    """Let every way to NumPy's random numbers lead to watched ones."""
    seeds = np.random.SeedSequence(_SEED)
    plain_generator, plain_state = np.random.Generator, np.random.RandomState

    class Generator(_Generator, metaclass=_Kind):
        stands_for = plain_generator

    class RandomState(_RandomState, metaclass=_Kind):
        stands_for = plain_state

        def __init__(self, seed: Any = None) -> None:
            super().__init__(int(seeds.spawn(1)[0].generate_state(1)[0]) if seed is None else seed)

    Generator.tape = RandomState.tape = tape

    def make_generator(seed: Any = None) -> np.random.Generator:
        if isinstance(seed, plain_generator):
            return seed
        return Generator(np.random.PCG64(seeds.spawn(1)[0] if seed is None else seed))

    legacy = RandomState()
    patches = {name: getattr(legacy, name) for name in _LEGACY}
    patches |= {"default_rng": make_generator, "Generator": Generator, "RandomState": RandomState}
    before = {name: getattr(np.random, name) for name in patches}
    state = np.random.get_state()  # noqa: NPY002 - the code under audit may use it
    np.random.seed(_SEED)  # noqa: NPY002
    try:
        for name, patch in patches.items():
            setattr(np.random, name, patch)
        yield
    finally:
        for name, original in before.items():
            setattr(np.random, name, original)
        np.random.set_state(state)  # noqa: NPY002


@contextmanager
def record_draws() -> Iterator[list[NumPyDraw]]:
    """Keep all noise that is drawn from NumPy, and what it is added to."""
    tape = _Tape()
    with _watch(tape):
        yield tape.draws


@contextmanager
def replay_draws(recorded: Sequence[NumPyDraw]) -> Iterator[list[NumPyDraw]]:
    """Give the recorded answers again, whatever the data; keep what noise was added to."""
    tape = _Tape(recorded)
    with _watch(tape):
        yield tape.draws
