"""New clinic sites among real cities, beside existing practices that must stay private.

A health service wants to open clinics in ten European cities. Many doctors already practise, most
of them from home, so where they live must not show. The cities are public (places and populations
from GeoNames, CC BY 4.0, see ``clinic_sites_cities.md``); the practices here are made up, three
thousand of them around two cities in five.

Run ``python examples/clinic_sites.py [FOLDER]``: it prints the plan and the chosen cities, and
writes the release with its report, which has the map.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np

from privclust import PrivateSourceTargetMedoids
from privclust.exceptions import PrivclustWarning
from privclust.papers.targets import SourceTargetMedoids

CITIES = Path(__file__).with_name("clinic_sites_cities.csv")


def main() -> None:
    """Choose the cities with and without looking at the practices, and compare."""
    names, places, people = cities()
    practices = made_up_practices(places, people)
    model = PrivateSourceTargetMedoids(10, epsilon=1.0, metric="haversine")
    print(model.plan(3000, target=places))

    with warnings.catch_warnings():
        warnings.simplefilter("always", PrivclustWarning)
        model.fit(places, source=practices, sample_weight=people)
    print("\nNew clinics:", ", ".join(names[i] for i in model.medoid_indices_))
    print(f"Estimated mean distance: {model.cost_estimate_:.0f} km (an estimate, with noise)")
    served = float(people @ model.served_by_source_ / people.sum())
    print(f"Share of people whom an existing practice probably serves: {served:.0%}")

    # Not for publication: how good the private choice is, measured with the practices themselves.
    alone = SourceTargetMedoids(10, metric="haversine").fit(places, sample_weight=people)
    best = SourceTargetMedoids(10, metric="haversine").fit(
        places, source=practices, sample_weight=people
    )
    for label, chosen in (
        ("practices ignored", alone.medoid_indices_),
        ("private", model.medoid_indices_),
        ("without privacy", best.medoid_indices_),
    ):
        print(f"  true mean distance, {label}: {true_distance(places, people, practices, chosen)}")

    if len(sys.argv) > 1:
        folder = model.release().save(sys.argv[1], overwrite=True, report=True)
        print(f"Release and report: {folder}")


def cities() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names, latitudes and longitudes, and populations in thousands."""
    with CITIES.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = np.array([[float(row["latitude"]), float(row["longitude"])] for row in rows])
    return (
        [row["city"] for row in rows],
        places,
        np.array([float(row["population_thousands"]) for row in rows]),
    )


def made_up_practices(places: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return three thousand places around two cities in five, more around the larger ones."""
    rng = np.random.default_rng(7)
    chances = people * (rng.random(len(places)) < 0.4)
    homes = places[rng.choice(len(places), 3000, p=chances / chances.sum())]
    return homes + rng.normal(0, 0.25, homes.shape)


def true_distance(
    places: np.ndarray, people: np.ndarray, practices: np.ndarray, chosen: np.ndarray
) -> str:
    """Return the mean distance of people to the nearest practice or chosen city."""
    together = np.concatenate([practices, places[chosen]])
    judged = SourceTargetMedoids(1, metric="haversine").fit(
        places, source=together, sample_weight=people, forced=[int(chosen[0])]
    )
    return f"{judged.cost_:.1f} km"


if __name__ == "__main__":
    main()
