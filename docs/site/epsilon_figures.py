"""Draws the two pictures of the guide on ε: ``python docs/site/epsilon_figures.py``.

Both follow from formulas alone: what a reader can come to believe, and the noise of a count.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from privclust import Budget
from privclust.privacy.mechanisms import choose_additive_noise

FIGURES = Path(__file__).parents[1] / "figures"
EPSILONS = (0.1, 0.5, 1, 2, 5)


def belief_after(before: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the most that a reader can believe after a release: odds grow by e^ε at most."""
    return before * np.exp(epsilon) / (1 - before + before * np.exp(epsilon))


def draw_beliefs() -> None:
    """Draw how far a reader's belief can move."""
    before = np.linspace(0, 1, 201)
    figure, axes = plt.subplots(figsize=(5.2, 3.9))
    axes.plot(before, before, "--", color="grey", label="nothing learned")
    for number, epsilon in enumerate(EPSILONS):
        colour = mpl.colormaps["viridis"](number / 5)
        axes.plot(before, belief_after(before, epsilon), color=colour, label=f"ε = {epsilon}")
    axes.set(xlabel="belief before the release", ylabel="largest belief after it")
    axes.legend(frameon=False)
    save(figure, "epsilon-belief.svg")


def draw_noise() -> None:
    """Draw the noise of a count by ε, of one count and of a hundred that share a budget."""
    epsilons = np.geomspace(0.05, 5, 15)
    figure, axes = plt.subplots(figsize=(5.2, 3.9))
    for delta, style in ((0, "-"), (1e-6, "--")):
        name = "δ = 0" if delta == 0 else "δ = 1e-6"
        for counts, colour in ((1, "C0"), (100, "C1")):
            errors = [several(epsilon, delta, counts) for epsilon in epsilons]
            label = f"{'one count' if counts == 1 else f'each of {counts} counts'}, {name}"
            axes.plot(epsilons, errors, style, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="ε", ylabel="standard error, in rows")
    axes.legend(frameon=False)
    save(figure, "epsilon-noise.svg")


def several(epsilon: float, delta: float, counts: int) -> float:
    """Return the error of each of several counts that share a budget evenly."""
    share = Budget(epsilon, delta).split([1] * counts)[0]
    return float(
        choose_additive_noise(share, l1_sensitivity=1, squared_l2_sensitivity=1).standard_error(1)
    )


def save(figure: plt.Figure, name: str) -> None:
    """Write a picture that is the same byte by byte whenever it is drawn."""
    figure.tight_layout()
    with mpl.rc_context({"svg.hashsalt": "privclust"}):
        figure.savefig(FIGURES / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw_beliefs()
    draw_noise()
