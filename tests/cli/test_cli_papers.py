"""The parameters of the papers on the command line: they arrive, or are refused by name."""

from __future__ import annotations

import pytest

from privclust import Categories, Schema
from privclust.cli.fit import options_of
from privclust.cli.inputs import SHAPES, tasks_of
from privclust.cli.screen import UsageError
from privclust.exceptions import ParameterError
from privclust.papers.dilca import PrivateContextDilca, PrivateContextKMeans
from privclust.papers.targets import PrivateNearestMedoids
from privclust.papers.tau import PrivateTauCoclustering
from privclust.papers.zones import PrivateZoneKMeans


def model_of(command, **given):
    """Return the estimator that options of a command mean."""
    tasks = tasks_of(command)
    return options_of(SHAPES[tasks[0].takes][0], tasks)(**given).model()


def told(model, **parameters):
    found = model.get_params()
    return {name: found[name] for name in parameters} == parameters


def test_co_clustering_takes_rounds_and_the_share_of_choices():
    model = model_of("cocluster", method="tau", n_rounds="4", choice_share=0.7)
    assert isinstance(model, PrivateTauCoclustering)
    assert told(model, n_rounds=4, choice_share=0.7)
    assert told(model_of("cocluster", method="tau", n_rounds="auto"), n_rounds="auto")
    assert told(model_of("cocluster", rule="tau"), rule="tau")
    own = {"n_row_clusters": "auto", "n_column_clusters": "auto", "choice_share": "auto"}
    assert told(model_of("cocluster", method="tau", **own), **own)


def test_a_word_that_one_method_knows_is_refused_by_the_others():
    model = model_of("cocluster", n_row_clusters="auto")
    with pytest.raises(ParameterError, match="n_row_clusters must be"):
        model.fit([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("--row-clusters=x", "a whole number"),
        ("--row-clusters=-1", "a whole"),
        ("--choice-share=x", "a number"),
    ],
)
def test_what_may_be_auto_is_else_a_number(run, option, wanted):
    result = run("cocluster", "x.csv", "--method", "tau", option)
    assert result.exit_code == 2
    assert f"must be {wanted}" in result.stderr
    assert "or auto" in result.stderr


def test_zones_take_their_settings():
    own = {"n_steps": 5, "n_candidates": 6, "internal_k": 2, "choice_share": 0.3, "last_share": 0.4}
    model = model_of("kmeans", method="zones", bounds=(0, 1), **own)
    assert isinstance(model, PrivateZoneKMeans)
    assert told(model, **own)


@pytest.fixture
def schema(tmp_path):
    Schema({"a": Categories([0, 1]), "b": Categories([0, 1])}).save(tmp_path / "s.toml")
    return tmp_path / "s.toml"


def test_a_metric_takes_the_settings_of_the_published_variants(schema):
    own = {"schema": schema, "method": "mean-su", "sigma": 0.5, "selection_share": 0.4}
    model = model_of("categorical", **own, targets=["a"], budget_per_target=True)
    assert isinstance(model, PrivateContextDilca)
    assert told(model, sigma=0.5, selection_share=0.4, targets=["a"], budget_per_target=True)
    model = model_of("categorical", **own, n_clusters=2, metric_share=0.6)
    assert isinstance(model, PrivateContextKMeans)
    assert told(model, method="mean-su", sigma=0.5, metric_share=0.6)


def test_sources_take_the_settings_of_both_published_methods():
    own = {"coreset": "net", "counts_share": 0.5, "false_cells": 1.0, "pull": False}
    nna = model_of("source-target", method="nna", **own)
    assert isinstance(nna, PrivateNearestMedoids)
    assert told(nna, **own)
    own = {"n_nearest": 75, "spread_share": 0.2, "coreset_radius": 0.1}
    assert told(model_of("source-target", method="nas", coreset="none", **own), coreset=None, **own)
    assert told(model_of("source-target", n_projected=3), n_projected=3)


@pytest.mark.parametrize(
    ("command", "given", "sentence"),
    [
        ("cocluster", {"n_rounds": "4"}, "--rounds belongs to --method tau"),
        ("cocluster", {"method": "tau", "rule": "tau"}, "--rule belongs to --method tables"),
        ("kmeans", {"bounds": (0, 1), "internal_k": 2}, "--internal-k belongs to --method zones"),
        ("source-target", {"n_nearest": 3}, "--nearest belongs to --method nna or nas"),
        ("source-target", {"method": "nas", "pull": False}, "--pull belongs to --method nna;"),
        ("source-target", {"coreset": "net"}, "--coreset belongs to --method nna or nas"),
        ("categorical", {"metric_share": 0.5}, "--metric-share belongs to --clusters"),
        ("categorical", {"n_clusters": 2, "metric_share": 0.5}, "belongs to --method baseline or"),
        ("categorical", {"n_clusters": 2, "targets": ["a"]}, "--target applies only to the metric"),
    ],
)
def test_an_option_of_another_method_is_refused_by_name(command, given, sentence):
    with pytest.raises(UsageError, match=sentence):
        model_of(command, **given)
