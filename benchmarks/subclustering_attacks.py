"""Attacks on k-means with convergent zones: neighbours, and events that betray a row.

Each event is named before the runs, and likelier on D', the data set with one more row. It is
counted in independent runs on both sides; the bound on ε is that of the auditor. The private
algorithm stands beside the published ones on the same neighbours and events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privclust.audit.events import epsilon_bound
from privclust.papers.zones.private import PrivateZoneKMeans
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee

__all__ = ["ATTACKS", "Attack", "attacked", "bound_of"]

BOUNDS = {"bounds": (-1, 1)}


def row_in_the_zone() -> tuple[np.ndarray, np.ndarray]:
    """Half the rows at -1 and half at +1; the neighbour has one more row, at 0.5."""
    rows = np.repeat([[-1.0], [1.0]], 500, axis=0)
    return rows, np.append(rows, [[0.5]], axis=0)


def few_and_far() -> tuple[np.ndarray, np.ndarray]:
    """Sixty rows close together; the neighbour has one more row, a hundred times as far off."""
    return with_far_row(60)


def many_and_far() -> tuple[np.ndarray, np.ndarray]:
    """The same with a thousand rows."""
    return with_far_row(1000)


def with_far_row(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.linspace(-1, -0.98, n_rows)[:, None]
    return rows, np.append(rows, [[1.0]], axis=0)


def near_the_row(model: Any) -> bool:
    """Say whether the released centre is near to 0.5."""
    return bool(abs(model.cluster_centers_[0, 0] - 0.5) < 0.25)


def out_of_the_crowd(model: Any) -> bool:
    """Say whether a released centre is far from all rows that both data sets have."""
    return bool((abs(model.cluster_centers_ + 1) > 0.5).any())


def zone_off_zero(model: Any) -> bool:
    """Say whether the middle of the first zone, where it is published, is not at 0."""
    return bool(abs(model.zone_middles_[0, 0, 0]) > 1e-4)


@dataclass(frozen=True)
class Attack:
    """An algorithm, a pair of neighbours, and the event to count."""

    kind: type
    n_clusters: int
    pair: Callable[[], tuple[np.ndarray, np.ndarray]]
    event: Callable[[Any], bool]
    runs: int
    claims: tuple[float, ...] = (0.1, 0.5, 1.0)
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Say whether the algorithm draws its noise from the system, and takes no share."""
        return self.kind is PrivateZoneKMeans

    @property
    def neighbours(self) -> str:
        """The two data sets in words."""
        return self.pair.__name__.replace("_", " ")

    def hits(self, epsilon: float, runs: int) -> tuple[int, int]:
        """Count the event on D and on D'."""
        parameters = {"epsilon": epsilon, **self.parameters}
        if not self.private:
            parameters["random_state"] = np.random.default_rng(0)
        model = self.kind(self.n_clusters, **parameters)
        on_d, on_neighbour = (
            sum(self.event(model.fit(rows)) for _ in range(runs)) for rows in self.pair()
        )
        return on_d, on_neighbour


ATTACKS = {
    "zone": [
        Attack(SubclusterGuarantee, 1, row_in_the_zone, near_the_row, 20_000, parameters=reading)
        for reading in (BOUNDS, {"noise_share": 0.9, **BOUNDS})
    ],
    "start": [
        Attack(KMeansGuarantee, 2, few_and_far, out_of_the_crowd, 40_000, (1.0,)),
        Attack(SubclusterGuarantee, 2, few_and_far, out_of_the_crowd, 40_000, (1.0,)),
    ],
    "size": [
        Attack(KMeansGuarantee, 2, many_and_far, out_of_the_crowd, 2_000, parameters=BOUNDS),
    ],
    "published": [
        Attack(kind, 1, row_in_the_zone, zone_off_zero, 100_000, (1.0,), {"n_iter": 1})
        for kind in (KMeansGuarantee, SubclusterGuarantee)
    ],
    "repaired": [
        Attack(PrivateZoneKMeans, 1, row_in_the_zone, near_the_row, 1_000, parameters=BOUNDS),
        Attack(PrivateZoneKMeans, 2, few_and_far, out_of_the_crowd, 1_000, parameters=BOUNDS),
        Attack(PrivateZoneKMeans, 2, many_and_far, out_of_the_crowd, 1_000, parameters=BOUNDS),
    ],
}


def bound_of(attack: Attack, epsilon: float, trials: int) -> tuple[int, int, float]:
    """Return the hits on both sides, and the ε that they refute at 95 %."""
    on_d, on_neighbour = attack.hits(epsilon, trials)
    return on_d, on_neighbour, max(0.0, float(epsilon_bound(on_neighbour, on_d, trials, 0.05)))


def attacked(names: list[str], runs: int | None) -> Iterator[list[str]]:
    """Run the named attacks and yield the cells of one row of the table for each claim."""
    for attack in (attack for name in names or ATTACKS for attack in ATTACKS[name]):
        for epsilon in attack.claims:
            trials = runs or attack.runs
            on_d, on_neighbour, bound = bound_of(attack, epsilon, trials)
            yield [
                attack.kind.__name__,
                attack.neighbours,
                attack.event.__name__.replace("_", " "),
                f"{epsilon:g}",
                "-" if attack.private else f"{attack.parameters.get('noise_share', 0.5):g}",
                f"{on_d} / {on_neighbour} of {trials}",
                f"{bound:.2f}",
            ]
