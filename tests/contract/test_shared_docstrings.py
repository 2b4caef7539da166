"""Parameters that all private estimators share are described in the same words everywhere."""

from __future__ import annotations

import inspect
import re

import pytest

from support.estimators import ESTIMATORS

# A published algorithm may refer to the estimator that is recommended in its place.
REFERRING = {
    "PrivateTauCoclustering": "PrivateCoclustering",
    "PrivateContextDilca": "privclust.PrivateDilca",
    "PrivateContextKMeans": "PrivateContextDilca",
    "PrivateNearestMedoids": "privclust.PrivateSourceTargetMedoids",
    "PrivateHighDimKMeans": "PrivateKMeans",
    "PrivateNMF": "PrivateKMeans",
    "PrivateWGAN": "PrivateKMeans",
    "PrivateOneHotKMeans": "privclust.PrivateDilca",
}
KINDS = {record.kind for record in ESTIMATORS if record.name not in REFERRING}
CLASSES = sorted(KINDS, key=lambda kind: kind.__name__)
USUAL = {
    "epsilon": "float, default=1.0: The privacy loss allowed. Smaller is more private and less "
    "accurate.",
    "delta": "float, default=0: Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for "
    "the same ε.",
    "budget": "Budget or None, default=None: Given instead of ``epsilon`` and ``delta``; for "
    "example ``Budget.of_rho(0.1, 1e-6)``.",
    "unit": 'Unit or str, default="add-remove-row": Whose presence is hidden; see '
    ":mod:`privclust.unit`.",
    "random_state": "int or None, default=None: ``None`` for private noise. A number makes the fit "
    "reproducible and NOT PRIVATE.",
    "ledger": "Ledger or None, default=None: Where the fit is charged before any row is read.",
    "dataset": "str or None, default=None: The name of the data set in the ledger.",
}
# Where an estimator says something of its own, on purpose.
DIFFERENT = {
    ("PrivateDilca", "epsilon"),  # it pays for a metric
    ("PrivateDilca", "delta"),
    ("PrivateCoclustering", "delta"),  # a unit needs it
    ("PrivateCoclustering", "unit"),  # units of matrices, which have entries
    ("PrivateCoclustering", "ledger"),
    ("PrivateDensity", "delta"),  # one table gains nothing from it
    ("PrivateSourceTargetMedoids", "delta"),  # it spends in another currency
}


def described(kind: type, parameter: str) -> str:
    """Return the type and the description of a parameter, in one line."""
    text = inspect.cleandoc(kind.__doc__ or "")
    found = re.search(rf"^{parameter} : (.*)\n((?:    .*\n)+)", text, re.M)
    assert found is not None, f"{kind.__name__} does not describe {parameter}"
    return f"{found[1]}: {' '.join(found[2].split())}"


@pytest.mark.parametrize("parameter", USUAL)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_shared_parameter_is_described_in_the_usual_words(kind: type, parameter: str) -> None:
    deliberate = (kind.__name__, parameter) in DIFFERENT
    assert (described(kind, parameter) != USUAL[parameter]) == deliberate


@pytest.mark.parametrize("name", REFERRING)
def test_who_does_not_describe_them_says_where_they_are(name: str) -> None:
    (kind,) = (record.kind for record in ESTIMATORS if record.name == name)
    text = " ".join((kind.__doc__ or "").split())
    assert f"random_state, ledger, dataset See :class:`{REFERRING[name]}`" in text
