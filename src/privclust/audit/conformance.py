"""``replay``: what all answers of one fit can tell about a row, exactly and in one run.

A fit is run on a data set, and everything its mechanisms were asked and answered is recorded. It is
run again on a neighbour, where they give the same answers. Anyone who sees only answers must then
see the same run: the same questions in the same order with the same noise, and the same output. The
exact values may differ, and by how much says what the answers lose. The idea is known as
Re:cord-play (arXiv 2602.17454); here the losses of the transcript are added up exactly besides.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr
from sklearn.base import clone

from privclust.audit import numpy_noise, transcripts
from privclust.audit.differences import check_neighbours
from privclust.audit.method_noise import opendp_noise
from privclust.audit.outputs import Leaves, RaisedError, Structure, fitted_attributes, list_leaves
from privclust.audit.runner import is_estimator, takes_rng
from privclust.audit.transcripts import DivergedError
from privclust.budget import NO_LOSS, Budget, Loss, Number
from privclust.unit import Unit, unit_from

ReplayVerdict = Literal["kept", "violated", "undecided"]
NoiseName = Literal["privclust", "numpy", "opendp"]
# Losses that were added up in floats may exceed a claim by so much, relatively.
_ROUNDING = Fraction(1, 10**9)


class _Draw(Protocol):
    """What an adapter records of one answer."""

    title: str
    allowed: Any

    def asks_like(self, twin: Any) -> bool: ...

    def change(self, twin: Any) -> Any: ...

    def loss(self, twin: Any) -> Loss | None: ...


class NoiseAdapter(Protocol):
    """What knows how some code draws its noise: it records, and gives answers again."""

    def record_draws(self) -> AbstractContextManager[list[Any]]: ...

    def replay_draws(self, recorded: Sequence[Any]) -> AbstractContextManager[list[Any]]: ...


@dataclass(frozen=True)
class ReplayedAnswer:
    """One answer of a transcript.

    Attributes
    ----------
    question : str
        What added the noise.
    change : float
        How far the exact values of the two data sets are apart, in the measure of the mechanism.
    allowed : float or None
        How far they may be apart, if the mechanism was told.
    epsilon : float
        What the answer alone can tell, as pure ε or, for normal noise, as √(2ρ); infinite if it
        tells the two apart with certainty.
    """

    question: str
    change: float
    allowed: float | None
    epsilon: float


@dataclass(frozen=True)
class ReplayReport:
    """What a replay found.

    Attributes
    ----------
    verdict : {"kept", "violated", "undecided"}
        Whether the fit keeps its claim *on this pair*. "undecided" if only a bound on ε is known,
        and it exceeds the claim.
    faults : tuple of str
        What was wrong, a sentence each.
    epsilon : float
        By how much all answers can tell the pair apart at the claimed δ; infinite if they do so
        with certainty, or if the questions or the output depend on the rows in another way.
    claimed : Budget
    answers : tuple of ReplayedAnswer
        One for each draw of noise.
    """

    verdict: ReplayVerdict
    faults: tuple[str, ...]
    epsilon: float
    claimed: Budget
    answers: tuple[ReplayedAnswer, ...]

    def __str__(self) -> str:
        delta = f", δ = {float(self.claimed.delta):g}" if self.claimed.delta else ""
        lines = [
            f"Claim {self.verdict} on this pair: ε = {float(self.claimed.epsilon):g}{delta}",
            f"  found    ε = {self.epsilon:.4g} in {len(self.answers)} answers, exactly added up",
        ]
        return "\n".join(lines + [f"  fault    {fault}" for fault in self.faults])


def replay(
    fit: Any,
    data: Any,
    neighbour: Any,
    claimed: Budget | Number | None = None,
    *,
    noise: NoiseName | NoiseAdapter = "privclust",
    unit: str | Unit | None = None,
) -> ReplayReport:
    """Add up exactly what the answers of one fit can tell about a pair of neighbours.

    The report is an exact statement about both data sets, and the fit is not charged: replay
    synthetic or public rows, never those that a release is to protect.

    Parameters
    ----------
    fit : callable or estimator
        A callable that takes a data set and returns its output, or an estimator, which is cloned
        and whose output is its attributes ``name_``. A callable with a parameter ``rng`` is handed
        a NumPy generator.
    data, neighbour : object
        Data sets that differ by what the unit protects.
    claimed : Budget or number, optional
        The claim; a number is ε with δ = 0. An estimator's own ``epsilon`` and ``delta`` if it is
        not given.
    noise : {"privclust", "numpy", "opendp"} or MethodNoise, default="privclust"
        Where the fit draws its noise from.
    unit : str, Unit or None
        What the pair may differ by; an estimator's own ``unit`` if it is not given. Without any,
        the pair is taken as it is.

    Returns
    -------
    ReplayReport

    Notes
    -----
    A fault is a fault: the questions, the noise or the output of the fit depend on the rows, or
    its answers tell more than was claimed. That nothing is found on one pair is no proof; try
    pairs as :func:`point_pairs` makes them. Answers of δ = 0, and of normal noise alone, are
    measured exactly; for others with δ > 0 the ε is an upper bound, hence "undecided".

    Examples
    --------
    >>> import numpy as np
    >>> def count_and_sum(ages, rng):
    ...     return len(ages), ages.sum() + rng.laplace(scale=100)
    >>> ages = np.array([30.0, 40.0])
    >>> report = replay(count_and_sum, ages, ages[:1], claimed=1, noise="numpy")
    >>> report.verdict, report.faults
    ('violated', ('The output differs without any noise, at output.',))
    """
    budget = _claim(fit, claimed)
    chosen = getattr(fit, "unit", None) if unit is None and is_estimator(fit) else unit
    if chosen is not None:
        check_neighbours(data, neighbour, unit_from(chosen))
    adapter = _adapter(noise)
    with adapter.record_draws() as draws:
        output, error = _run(fit, data)
    if error is not None and not draws:
        raise error
    if not draws:
        raise ValueError(
            "The fit left no transcript: replay saw it draw no noise; say where it draws from "
            'with noise="numpy", noise="opendp" or a MethodNoise.'
        )
    faults = []
    with adapter.replay_draws(_answers(adapter, draws)) as twins:
        try:
            twin_output, _ = _run(fit, neighbour)
            faults += _differing_output(output, twin_output)
        except DivergedError:
            faults.append("The neighbour asks more questions, or uses noise more often.")
    return _judge(draws, twins, faults, budget)


def _claim(fit: Any, claimed: Budget | Number | None) -> Budget:
    if claimed is not None:
        return claimed if isinstance(claimed, Budget) else Budget(claimed)
    if getattr(fit, "epsilon", None) is None:
        raise ValueError("Say what the fit claims, such as claimed=1.0 or claimed=Budget(1, 1e-6).")
    return Budget(fit.epsilon, getattr(fit, "delta", None) or 0)


def _adapter(noise: Any) -> Any:
    if isinstance(noise, str):
        if noise not in ("privclust", "numpy", "opendp"):
            raise ValueError(
                f'noise must be "privclust", "numpy", "opendp" or a MethodNoise, got {noise!r}.'
            )
        return {"privclust": lambda: transcripts, "numpy": lambda: numpy_noise}.get(
            noise, opendp_noise
        )()
    return noise


def _answers(adapter: Any, draws: list[Any]) -> Sequence[Any]:
    """Return what an adapter gives again: ours repeats arrays, the others whole draws."""
    return [draw.answer for draw in draws] if adapter is transcripts else list(draws)


def _run(fit: Any, data: Any) -> tuple[Leaves, Exception | None]:
    """Return the output of one run taken apart, and the error it ended with."""
    own = copy.deepcopy(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if is_estimator(fit):
                return list_leaves(fitted_attributes(_seed_clone(fit).fit(own))), None
            rng = {"rng": np.random.default_rng(0)} if takes_rng(fit) else {}
            return list_leaves(fit(own, **rng)), None
    except Exception as error:
        return {"exception": RaisedError(type(error).__name__, str(error))}, error


def _seed_clone(estimator: Any) -> Any:
    """Return a clone whose public random numbers are the same in every run."""
    own = clone(estimator)
    if getattr(own, "ledger", None) is not None:
        raise ValueError("A replay runs a fit twice; give it an estimator without a ledger.")
    return own.set_params(random_state=0) if "random_state" in own.get_params() else own


def _differing_output(left: Leaves, right: Leaves) -> list[str]:
    """Return the fault of outputs that are not the same though all answers were."""
    for path in [*left, *(path for path in right if path not in left)]:
        if path not in left or path not in right or not _same(left[path], right[path]):
            if path == "exception":
                return ["One of the two runs ends with an error."]
            return [f"The output differs without any noise, at {path}."]
    return []


def _same(one: Any, two: Any) -> bool:
    if type(one) is not type(two):
        return False
    if isinstance(one, (str, Structure, RaisedError)):
        return bool(one == two)
    return np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")


def _judge(
    draws: list[_Draw], twins: list[_Draw], faults: list[str], claimed: Budget
) -> ReplayReport:
    """Compare a transcript with that of the neighbour, and add up what the answers tell."""
    answers: list[ReplayedAnswer] = []
    certain = bool(faults)
    pairs = list(zip(draws, twins, strict=False))
    losses: list[Loss] = []
    for number, (draw, twin) in enumerate(pairs, 1):
        about = f"Question {number}, {draw.title},"
        if not draw.asks_like(twin):
            faults.append(f"{about} depends on the rows.")
            certain = True
            break
        loss, change = draw.loss(twin), draw.change(twin)
        answers.append(_told(draw, change, loss))
        if loss is None:
            faults.append(f"{about} does not hide what differs.")
            certain = True
            continue
        losses.append(loss if loss.rho else NO_LOSS)
        if draw.allowed is not None and change > draw.allowed:
            faults.append(
                f"{about} changes by {float(change):g} where {float(draw.allowed):g} was allowed."
            )
    if len(twins) < len(draws) and not certain:
        faults.append("The neighbour asks fewer questions.")
        certain = True
    epsilon, known = (math.inf, True) if certain else _epsilon(draws, losses, claimed)
    too_much = epsilon > claimed.epsilon * (1 + _slack(draws))
    undecided = too_much and not known and not faults
    if too_much and not certain:
        faults.append(f"The answers tell ε = {float(epsilon):.4g}, more than was claimed.")
    verdict: ReplayVerdict = "undecided" if undecided else "violated" if faults else "kept"
    return ReplayReport(verdict, tuple(faults), float(epsilon), claimed, tuple(answers))


def _slack(draws: list[_Draw]) -> Fraction:
    return Fraction(0) if isinstance(draws[0], transcripts.Draw) else _ROUNDING


def _told(draw: _Draw, change: Any, loss: Loss | None) -> ReplayedAnswer:
    allowed = None if draw.allowed is None else float(draw.allowed)
    epsilon = math.inf
    if loss is not None:
        epsilon = math.sqrt(2 * loss.rho) if loss.pure is None else float(loss.pure)
    return ReplayedAnswer(draw.title, float(change), allowed, epsilon)


def _epsilon(
    draws: list[_Draw], losses: list[Loss], claimed: Budget
) -> tuple[Fraction | float, bool]:
    """Return the ε of a transcript at the claimed δ, and whether it is more than an upper bound."""
    total, delta = Loss.total(losses), claimed.delta
    moving = [draw for draw, loss in zip(draws, losses, strict=False) if loss.rho]
    if delta and all(draw.title == "normal noise" for draw in moving):
        return _normal_epsilon(math.sqrt(2 * total.rho), float(delta)), True
    bound = total.epsilon(delta)
    # From ρ to ε is rounded up, and may end a hair above the ε that the same ρ was taken from.
    if delta and bound is not None and total.rho <= claimed.amount:
        bound = min(bound, claimed.epsilon)
    return (math.inf if bound is None else bound), not delta


def _normal_epsilon(shift: float, delta: float) -> float:
    """Return the ε of normal noise of deviation one hiding this shift (Balle, Wang 2018)."""
    if not shift:
        return 0.0

    def excess(epsilon: float) -> float:
        left, right = shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift
        return float(np.exp(log_ndtr(left)) - np.exp(epsilon + log_ndtr(right))) - delta

    if excess(0.0) <= 0:
        return 0.0
    most = shift**2 / 2 + shift * math.sqrt(2 * math.log(1 / delta)) + 1
    return float(brentq(excess, 0.0, most))
