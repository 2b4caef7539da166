"""``noise="published"`` is the noise of the papers, and what it does not need stays unspent."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from privclust import Categories, Schema
from privclust.coclustering.association import tau_weights
from privclust.exceptions import ParameterError
from privclust.papers.dilca import PrivateContextDilca
from privclust.papers.targets import PrivateNearestMedoids
from privclust.papers.targets.theory import gaussian_deviation
from privclust.papers.tau import PrivateTauCoclustering
from privclust.papers.tau.private import _live_weights

# Example 2 of DP-DILCA with rows of its story: the column that says most of the first is the third.
ROWS = np.column_stack(
    [np.repeat([0, 1], 30), np.tile([0, 1], 30), np.r_[[0] * 24, [1] * 30, [0] * 6]]
)
SCHEMA = Schema({name: Categories([0, 1]) for name in "abc"})


def test_contexts_are_picked_with_the_chances_of_algorithm_4():
    asked = {"epsilon": 1.5, "schema": SCHEMA, "targets": ["a"], "context_size": 1}
    asked |= {"unit": "replace-row", "selection_share": 0.5}
    seen = {}
    for noise in ("exact", "published"):
        fits = [
            PrivateContextDilca(noise=noise, random_state=seed, **asked).fit(ROWS)
            for seed in range(500)
        ]
        seen[noise] = np.mean([fit.contexts_["a"] == ("c",) for fit in fits])
    # I'(X, Y) = H(X) - H(X, Y) = -H(Y | X), and gs of the paper's first line; h ε = .75.
    left = 1.0 - binary_entropy(24 / 30)
    paper = 2 / 60 * (1 / math.log(2) + math.log2(60))
    for noise, sensitivity in (("exact", paper / 2), ("published", paper)):
        odds = math.exp(0.735 * left / (2 * sensitivity))
        assert seen[noise] == pytest.approx(odds / (1 + odds), abs=0.055), noise
    assert seen["published"] < seen["exact"]


def binary_entropy(share):
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


TARGET = np.random.default_rng(0).normal(size=(150, 4))
SOURCE = np.random.default_rng(1).normal(size=(400, 4))
DIAMETER = 2 * float(np.linalg.norm(TARGET - TARGET.mean(axis=0), axis=1).max())


def errors_of(**asked):
    """Return the standard errors that a statement tells, by the name of the question."""
    asked = {"coreset": None, "epsilon": 1.0, **asked}
    model = PrivateNearestMedoids(2, **asked).fit(TARGET, source=SOURCE)
    told = re.findall(r"^ *(.+?) \(.*standard error ([\d.e+]+)\)", str(model.privacy_), re.M)
    return {name: float(error) for name, error in told}, model.privacy_.spent


def test_nna_has_the_noise_of_theorem_5_11():
    found, spent = errors_of(method="nna", noise="published")
    scale = math.sqrt(2) * (math.sqrt(4) + 1)
    assert found["cells of the coreset: counts"] == pytest.approx(scale, rel=0.02)
    assert found["cells of the coreset: sums"] == pytest.approx(scale * DIAMETER, rel=0.02)
    assert spent.pure < 0.7


def test_nna_has_the_noise_of_theorem_5_13():
    found, spent = errors_of(method="nna", noise="published", delta=1e-6)
    exact = errors_of(method="nna", delta=1e-6)[1]
    scale = math.sqrt(2 / exact.rho)
    assert found["cells of the coreset: counts"] == pytest.approx(scale, rel=0.02)
    assert found["cells of the coreset: sums"] == pytest.approx(scale * DIAMETER, rel=0.02)
    assert spent.rho < exact.rho / 3


def test_nas_has_the_noise_of_theorem_5_3():
    found, spent = errors_of(method="nas", noise="published", delta=1e-6, n_nearest=100)
    deviation = gaussian_deviation(len(TARGET), 100, 1.0, 1e-6)
    told = found["averages of nearest sources"]
    assert told == pytest.approx(deviation * DIAMETER, rel=0.02)
    assert spent.rho < errors_of(method="nas", delta=1e-6)[1].rho / 5


def test_nas_in_pure_epsilon_is_as_published_either_way():
    asked = {"method": "nas", "n_nearest": 100}
    assert errors_of(noise="published", **asked) == errors_of(**asked)


def test_equation_4_10_keeps_clusters_without_counts_among_the_candidates():
    table = np.array([[9.0, 1.0], [-0.5, -2.0], [2.0, 8.0]])
    assert (len(tau_weights(table)), len(_live_weights(table))) == (3, 2)
    assert np.ptp(tau_weights(table), axis=0).max() == np.ptp(_live_weights(table), axis=0).max()


def test_tau_clusters_differ_only_where_a_cluster_is_empty():
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.kron([[3, 1], [1, 3]], np.ones((20, 15))))
    asked = {"epsilon": 10.0, "n_rounds": 4, "random_state": 0}
    for k, same in ((2, True), (20, False)):
        exact, published = (
            PrivateTauCoclustering(k, 2, noise=noise, **asked).fit(counts)
            for noise in ("exact", "published")
        )
        assert np.array_equal(exact.block_totals_, published.block_totals_) == same


@pytest.mark.parametrize(
    ("changes", "cure"),
    [({"delta": 1e-6}, "set delta=0"), ({"unit": "add-remove-row"}, 'set unit="replace-row"')],
)
def test_noise_that_was_not_published_is_refused(changes, cure):
    asked = {"schema": SCHEMA, "unit": "replace-row", "noise": "published", **changes}
    with pytest.raises(ParameterError, match=cure):
        PrivateContextDilca(**asked).fit(ROWS)


@pytest.mark.parametrize("kind", [PrivateContextDilca, PrivateNearestMedoids])
def test_a_noise_that_there_is_not_is_refused(kind):
    with pytest.raises(ParameterError, match="one of exact, published"):
        kind(noise="none")._check_parameters()
