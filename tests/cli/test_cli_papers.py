"""The parameters of the papers on the command line: they arrive, or are refused by name."""

from __future__ import annotations

import pytest
from privclust.categories.command import CategoricalOptions
from privclust.clustering.kmeans_command import KMeansOptions
from privclust.coclustering.command import CoclusteringOptions
from privclust.source_target.command import SourceTargetOptions

from privclust import Categories, PrivateCategoricalKMeans, PrivateDilca, Schema
from privclust.cli.screen import UsageError
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.zones.private import PrivateZoneKMeans


def told(model, **parameters):
    found = model.get_params()
    return {name: found[name] for name in parameters} == parameters


def test_co_clustering_takes_rounds_and_the_share_of_choices():
    model = CoclusteringOptions(method="tau", rounds="4", choice_share=0.7).model()
    assert isinstance(model, PrivateTauCoclustering)
    assert told(model, n_rounds=4, choice_share=0.7)
    assert told(CoclusteringOptions(method="tau", rounds="auto").model(), n_rounds="auto")
    assert told(CoclusteringOptions(rule="tau").model(), rule="tau")


def test_zones_take_their_settings():
    model = KMeansOptions(
        method="zones",
        bounds=(0, 1),
        steps=5,
        candidates=6,
        internal_k=2,
        choice_share=0.3,
        last_share=0.4,
    ).model()
    assert isinstance(model, PrivateZoneKMeans)
    assert told(model, n_steps=5, n_candidates=6, internal_k=2, choice_share=0.3, last_share=0.4)


@pytest.fixture
def schema(tmp_path):
    Schema({"a": Categories([0, 1]), "b": Categories([0, 1])}).save(tmp_path / "s.toml")
    return tmp_path / "s.toml"


def test_a_metric_takes_the_settings_of_the_published_variants(schema):
    own = {"schema": schema, "method": "mean-su", "sigma": 0.5, "selection_share": 0.4}
    model = CategoricalOptions(**own, target=["a"], per_target=True).model()
    assert isinstance(model, PrivateDilca)
    assert told(model, sigma=0.5, selection_share=0.4, targets=["a"], budget_per_target=True)
    model = CategoricalOptions(**own, clusters=2, metric_share=0.6).model()
    assert isinstance(model, PrivateCategoricalKMeans)
    assert told(model, method="mean-su", sigma=0.5, metric_share=0.6)


def test_sources_take_the_settings_of_both_published_methods():
    nna = SourceTargetOptions(
        method="nna", coreset="net", counts_share=0.5, false_cells=1.0, pull=False
    ).model({})
    assert told(nna, coreset="net", counts_share=0.5, false_cells=1.0, pull=False)
    nas = SourceTargetOptions(
        method="nas", coreset="none", nearest=75, spread_share=0.2, coreset_radius=0.1
    ).model({})
    assert told(nas, coreset=None, n_nearest=75, spread_share=0.2, coreset_radius=0.1)
    assert told(SourceTargetOptions(projected=3).model({}), n_projected=3)


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: CoclusteringOptions(rounds="4").model(), "--rounds"),
        (lambda: CoclusteringOptions(method="tau", rule="tau").model(), "--rule"),
        (lambda: CoclusteringOptions(method="tau", rounds="four").model(), "--rounds"),
        (lambda: KMeansOptions(bounds=(0, 1), internal_k=2).model(), "--internal-k"),
        (lambda: SourceTargetOptions(nearest=3).model({}), "--nearest"),
        (lambda: SourceTargetOptions(method="nas", pull=False).model({}), "--pull"),
        (lambda: SourceTargetOptions(coreset="net").model({}), "--coreset"),
    ],
)
def test_an_option_of_another_method_is_refused_by_name(make, option):
    with pytest.raises(UsageError, match=option):
        make()
