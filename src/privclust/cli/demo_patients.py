"""From a private file to a published report, on synthetic patients.

What ``privclust demo`` runs. The patients are the same every time, the noise
is not: it is real, so the numbers differ slightly from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.clustering.estimator import PrivateKMeans
from privclust.jobs.label import write_labels
from privclust.jobs.output_paths import check_folder
from privclust.release import Release
from privclust.reports.values import TWO_ERRORS, describe_size
from privclust.schema import Box, Schema

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["run"]

Say = Callable[[Any], None]

_SCHEMA = Schema(
    {
        "age": Box(0, 100),
        "stay": Box(0, 30),
        "medicines": Box(0, 20),
        "visits": Box(0, 12),
        "pressure": Box(80, 200),
    },
    note="Age in years, stay in days, visits in the last year, blood pressure in mmHg; the bounds "
    "are medical knowledge, not taken from the patients.",
)

# Share of the patients, then mean and spread of each column.
_GROUPS: dict[str, tuple[float, list[float], list[float]]] = {
    "sick children": (0.20, [6, 2, 2, 2, 100], [3, 1, 1, 1, 7]),
    "injured young": (0.18, [26, 4, 3, 1, 121], [6, 2, 1, 1, 9]),
    "day surgery": (0.22, [52, 1, 4, 1, 130], [9, 0.5, 1, 1, 10]),
    "high pressure": (0.15, [64, 7, 9, 3, 172], [8, 2, 2, 1, 11]),
    "chronic illness": (0.12, [55, 2, 11, 9, 142], [9, 1, 2, 1.5, 11]),
    "frail and old": (0.13, [84, 15, 13, 5, 136], [6, 4, 2, 1.5, 13]),
}
_PATIENTS, _NEW_PATIENTS = 20_000, 1_000
_FILES = ("patients.csv", "patients.toml", "release", "new_patients.csv", "labels.csv")


def run(folder: Path, say: Say) -> dict[str, Path]:
    """Run every step and return the paths of what was written.

    Parameters
    ----------
    folder : Path
        Where to write; what an earlier run left there is replaced.
    say : callable
        Takes each line or table for the reader.
    """
    _check_free(folder)
    folder.mkdir(exist_ok=True)
    patients, schema, release, new_patients, labels = (folder / name for name in _FILES)
    model = PrivateKMeans(len(_GROUPS), epsilon=1.0, schema=_SCHEMA)
    options = f"--schema {schema} --clusters {len(_GROUPS)} --epsilon 1"

    _write_rows(patients, _people(_PATIENTS, seed=1))
    say(f"1. {_PATIENTS:,} synthetic hospital patients, treated as private: {patients}\n")
    schema.write_text(_SCHEMA.to_toml(), encoding="utf-8")
    say("2. What is publicly known, and all that may be known beforehand, is a range for each")
    say(f"   column: {schema}\n")
    say("3. The plan says what a fit would cost and achieve, without touching a patient.")
    say(f"   $ privclust plan kmeans {options} --rows {_PATIENTS}")
    _tell_plan(model, say)
    say("4. The fit asks the patients only through noise; centres and sizes may be published.")
    say(f"   $ privclust kmeans {patients} {options} -o {release}\n")
    published = _fit(model, patients, release)
    say(_clusters(published))
    _tell_price(model, patients, say)
    say("5. Anyone who has the release can label new patients with it.")
    say(f"   $ privclust apply {release} {new_patients} -o {labels}")
    _write_rows(new_patients, _people(_NEW_PATIENTS, seed=2))
    write_labels(published, new_patients, labels)
    say(f"   Labels of {_NEW_PATIENTS:,} new patients: {labels}\n")
    report = release / "report.html"
    say(f"The report, for readers who know nothing about differential privacy: {report}")
    return {"data": patients, "schema": schema, "release": release, "labels": labels} | {
        "report": report
    }


def _check_free(folder: Path) -> None:
    others = {entry.name for entry in folder.iterdir()} - {*_FILES} if folder.is_dir() else set()
    if others or (folder.exists() and not folder.is_dir()):
        raise ValueError(
            f"'{folder}' exists and does not belong to this demo; choose another folder."
        )
    check_folder(folder)


def _people(number: int, seed: int) -> Floats:
    """Return synthetic patients within the declared bounds."""
    rng = np.random.default_rng(seed)
    shares, means, spreads = (np.array(part) for part in zip(*_GROUPS.values(), strict=True))
    group = rng.choice(len(shares), size=number, p=shares)
    rows = means[group] + spreads[group] * rng.standard_normal((number, len(_SCHEMA)))
    return np.asarray(np.clip(np.rint(rows), _SCHEMA.low, _SCHEMA.high))


def _write_rows(path: Path, rows: Floats) -> None:
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=",".join(_SCHEMA.names), comments="")


def _tell_plan(model: PrivateKMeans, say: Say) -> None:
    plan = model.plan(_PATIENTS)
    say(f"   {len(plan.queries)} questions, ε = 1 in all. {plan.advice}\n")


def _fit(model: PrivateKMeans, patients: Path, place: Path) -> Release:
    release = model.fit(patients).release()
    release.save(place, overwrite=True, report=True)
    return release


def _clusters(release: Release) -> Table:
    """Return the released clusters, each with the synthetic group that it found."""
    from rich.table import Table

    shares, means, _ = (np.array(part) for part in zip(*_GROUPS.values(), strict=True))
    gaps = release.arrays["cluster_centers"][:, None, :] - means
    nearest = ((gaps / (_SCHEMA.high - _SCHEMA.low)) ** 2).sum(axis=2).argmin(axis=1)
    table = Table(f"rows {TWO_ERRORS}", *_SCHEMA.names, "generated as", box=None, pad_edge=False)
    sizes, error = release.arrays["cluster_sizes"], release.arrays["cluster_sizes_error"][0]
    for size, center, group in zip(sizes, release.arrays["cluster_centers"], nearest, strict=True):
        made_up = f"{list(_GROUPS)[group]}, {_PATIENTS * shares[group]:,.0f}"
        table.add_row(
            describe_size(float(size), float(error)), *(f"{x:.1f}" for x in center), made_up
        )
    return table


def _tell_price(model: PrivateKMeans, patients: Path, say: Say) -> None:
    from sklearn.cluster import KMeans

    rows = np.loadtxt(patients, delimiter=",", skiprows=1) / (_SCHEMA.high - _SCHEMA.low)
    best = KMeans(len(_GROUPS), n_init=3, random_state=0).fit(rows).inertia_
    ratio = -model.score(patients) / best
    say(f"\n   {model.privacy_.protects}")
    say(f"   The price: {ratio:.3f} times the error of k-means without privacy.\n")
