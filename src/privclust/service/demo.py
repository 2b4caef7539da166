"""The demo: two generated data sets, a steward and an analyst, in a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from privclust.schema.facts import Box, Categories, Fact
from privclust.schema.schema import Schema
from privclust.service.registered import Dataset
from privclust.service.services import Services
from privclust.service.settings import Settings
from privclust.unit.rows import AddRemoveRow, Person

_ROWS = 20_000
_VISIT_COLUMNS: dict[str, Fact] = {
    "age": Box(0, 110, missing=50),
    "stay": Box(0, 60, missing=0),
    "cost": Box(0, 20_000, missing=0),
    "ward": Categories(["medical", "surgical", "maternity"], missing="category", unknown="other"),
    "arrival": Categories(["planned", "emergency"], missing="category", unknown="other"),
}
_VISITS = Schema(_VISIT_COLUMNS, note="Made up.")
_TRIPS = Schema(
    {
        "east": Box(0, 20, missing=10),
        "north": Box(0, 20, missing=10),
        "minutes": Box(0, 120, missing=0),
    },
    note="Made up.",
)


def first_steward(services: Services) -> tuple[str, str] | None:
    """Return name and one-time password of the first steward, made now if there is none."""
    if any(user.is_steward for user, _ in services.accounts.all()):
        return None
    return "steward", services.accounts.add("steward", "steward")


def fill(services: Services, settings: Settings) -> list[tuple[str, str]]:
    """Make users, files, data sets and grants, and return names with one-time passwords."""
    steward = first_steward(services)
    if steward is None:
        return []
    folder = settings.folder
    folder.mkdir(parents=True, exist_ok=True)
    analyst = "analyst", services.accounts.add("analyst", "analyst")
    _write_visits(folder / "visits.csv")
    _write_trips(folder / "trips.csv")
    visits = _register(
        services,
        *("visits", "visits.csv", _VISITS, AddRemoveRow(), 25_000, "Made-up visits to a hospital"),
        meanings={"age": "in years, at admission", "stay": "in days", "cost": "in euros"},
    )
    trips = _register(
        services,
        *("trips", "trips.csv", _TRIPS, Person("rider", 4), 25_000, "Made-up trips of riders"),
        meanings={"east": "in km", "north": "in km", "minutes": "how long the trip took"},
    )
    for dataset in (visits, trips):
        services.datasets.grant(
            dataset, services.accounts.by_name("analyst"), "4", "0", "for the demo"
        )
    return [steward, analyst]


def _register(services: Services, *given: Any, **named: Any) -> Dataset:
    draft = services.datasets.draft(*given, **named)
    return services.datasets.add(draft, services.datasets.check(draft))


def _write_visits(path: Path) -> None:
    rng = np.random.default_rng(1)
    kind = rng.choice(3, _ROWS, p=[0.5, 0.3, 0.2])
    age = np.clip(rng.normal(np.array([70, 45, 30])[kind], 9), 0, 110).round(1)
    stay = np.clip(rng.gamma(2, np.array([5, 3, 1.5])[kind]), 0, 60).round(1)
    cost = np.clip(1500 + 700 * stay + rng.normal(0, 600, _ROWS), 0, 20_000).round()
    ward = np.array(["medical", "surgical", "maternity"])[kind]
    urgent = rng.random(_ROWS) < np.array([0.7, 0.4, 0.2])[kind]
    arrival = np.where(urgent, "emergency", "planned")
    _write(path, "age,stay,cost,ward,arrival", age, stay, cost, ward, arrival)


def _write_trips(path: Path) -> None:
    rng = np.random.default_rng(2)
    centres = rng.uniform(3, 17, (6, 2))
    places = np.clip(centres[rng.integers(6, size=_ROWS)] + rng.normal(0, 0.8, (_ROWS, 2)), 0, 20)
    minutes = np.clip(rng.gamma(3, 8, _ROWS), 0, 120).round(1)
    rider = np.char.add("r", rng.integers(6000, size=_ROWS).astype(str))
    _write(path, "rider,east,north,minutes", rider, *places.T.round(2), minutes)


def _write(path: Path, heading: str, *columns: Any) -> None:
    lines = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    path.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")
