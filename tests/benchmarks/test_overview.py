"""What we lose at is found in files, whoever is ahead, and nothing else is listed.

And what renews these files is a command that runs.
"""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from support.scripts import BENCHMARKS, found_first, scripts


@pytest.fixture(scope="module")
def overview():
    (module,) = scripts("overview")
    return module


@pytest.fixture(scope="module")
def losses():
    (module,) = scripts("losses")
    return module


def row_of(method, **values):
    tables = ("one", "two", "quantiles", "three")
    empty = dict.fromkeys((*tables, "correlation", "learning", "k6", "k12"), "")
    return {**empty, "set": "s", "epsilon": "1", "delta": "0", "method": method, **values}


def test_rows_of_others_that_are_closer_or_teach_more_are_listed(losses):
    rows = [row_of("tables", one="0.2", two="0.1", learning="0.8")]
    rows += [row_of("mst", one="0.1", two="0.3", learning="0.9"), row_of("cells", learning="0.7")]
    found = {(loss.measure, loss.ahead) for loss in losses.lost_rows(rows)}
    assert found == {("one column", "MST"), ("learning", "MST")}


def test_budgets_and_sets_are_compared_with_themselves_alone(losses):
    rows = [row_of("tables", two="0.2"), row_of("mst", two="0.1", epsilon="3")]
    rows += [row_of("mst", two="0.1", set="t")]
    assert list(losses.lost_rows(rows)) == []


def test_a_shape_is_lost_by_more_than_a_tenth(losses):
    rows = [
        {"set": name, "rows": "500", "epsilon": "1.0", "method": method, "score": score}
        for name, exact in (("near", "0.98"), ("far", "1.0"))
        for method, score in (("density, k found", "0.9"), ("no privacy: HDBSCAN", exact))
    ]
    (loss,) = losses.lost_shapes(rows)
    assert (loss.where, loss.ahead) == ("far, 500 rows, ε = 1", "no privacy: HDBSCAN")


def test_mixtures_lose_to_scikit_learn_by_a_tenth_and_to_noisy_em_by_anything(losses):
    scores = {("scikit-learn", "none"): 0.95, ("mixture", "δ"): 0.9, ("noisy EM", "δ"): 0.91}
    rows = [
        {"set": "s", "method": method, "budget": budget, "ari": str(score)}
        for (method, budget), score in scores.items()
    ]
    (loss,) = losses.lost_mixtures(rows)
    assert (loss.ahead, loss.theirs) == ("noisy EM", 0.91)


def test_time_is_lost_where_minibatch_takes_less(losses):
    rows = [
        {"size": size, "run": run, "cpu": cpu}
        for size, times in {"a": ("2", "3"), "b": ("5", "4")}.items()
        for run, cpu in zip(("local", "minibatch"), times, strict=True)
    ]
    (loss,) = losses.lost_time(rows)
    assert (loss.where, loss.theirs) == ("b, 16 clusters", 4.0)


def mean_of(method, mean, **values):
    empty = {"set": "s", "by": "", "at": "1", "measure": "nmi"}
    return {**empty, "method": method, "mean": str(mean), **values}


def test_co_clusters_lose_to_any_private_rival_and_to_no_privacy_by_a_tenth(losses):
    sets = [mean_of("tables", 0.5), mean_of("DPNMF", 0.51), mean_of("DPHD", 0.4)]
    sets += [mean_of("Fast-tauCC, not private", exact, at="") for exact in (0.54,)]
    columns = [mean_of("tables", 0.5, by="ε = 1", at="10")]
    columns += [mean_of("Fast-tauCC, not private", 0.6, by="ε = 1", at="10")]
    found = [(loss.where, loss.ahead) for loss in losses.lost_coclusters(sets, columns)]
    assert found == [
        ("s, ε = 1", "DPNMF"),
        ("s of 10 columns, ε = 1", "Fast-tauCC, not private"),
    ]


def test_rings_lose_where_a_cost_is_less_or_a_share_of_the_gap_more(losses):
    cost = {"measure": "cost, mean of all k", "at": ""}
    costs = [mean_of("rings", 2, by="ε=3", **cost), mean_of("NAS", 1.9, by="ε=3", **cost)]
    costs += [mean_of("not private", 1.9, **cost), mean_of("ClusterT", 3, **cost)]
    costs += [mean_of("rings", 80, by="ε=3", measure="share", at="")]
    rivals = [mean_of("DP-WGAN", 81, by="ε=3", measure="share", at="none")]
    found = [(loss.ahead, loss.theirs) for loss in losses.lost_targets(costs, rivals)]
    assert found == [("NAS", 1.9), ("DP-WGAN, coreset: none", 81)]


def test_distances_lose_to_variants_of_the_paper_but_not_to_another_default(losses):
    files = {name: [] for name in (*losses.DISTANCES, "dilca-kmeans")}
    means = {"tree (default)": 0.5, "pairs, δ (default)": 0.9, "mean-su": 0.6}
    files["dilca-ward"] = [mean_of(method, mean, measure="ARI") for method, mean in means.items()]
    files["dilca-ward"] += [mean_of("DILCA, not private", 0.98, measure="ARI", at="")]
    ours = mean_of("ours", 0.2, by="ours, δ = 0")
    files["dilca-kmeans"] = [ours, mean_of("DP-KMeans-OH", 0.3, by="DPLloyd")]
    found = [(loss.where, loss.ahead) for loss in losses.lost_distances(files)]
    assert found == [
        ("s, ε = 1", "mean-su"),
        ("s, ε = 1", "DILCA, not private"),
        ("s, ε = 1", "DP-KMeans-OH (DPLloyd)"),
    ]


def test_the_cost_of_a_file_is_that_of_its_commands_or_of_its_fits(overview):
    rows = [{"seconds": "90", "commit": "a"}, {"seconds": "30", "commit": "b"}]
    x = overview.Benchmark("x", ("run x", "draw x"))
    costs = [{"command": "run x", "minutes": "5"}]
    assert overview.cost(x, rows, costs) == ["x", 2, "2 of fits", "a, b"]
    rows[0]["seconds"] = ""
    assert overview.cost(x, rows, costs)[2] == "0.5 of fits, 1 lines"
    assert overview.cost(x._replace(seconds="cpu"), rows, costs)[2] == "not kept"
    assert overview.cost(x, rows, [*costs, {"command": "draw x", "minutes": "1"}])[2] == "6"


class CommandReadError(Exception):
    """The words of a command were understood."""


@pytest.mark.parametrize(
    "command",
    [words for benchmark in scripts("overview")[0].BENCHMARKS for words in benchmark.commands],
)
def test_every_command_that_renews_a_file_is_understood(command, monkeypatch):
    for name in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(argparse.ArgumentParser, name, understood(name))
    first, *rest = command.split()
    monkeypatch.setattr(sys, "argv", [first, *rest])
    script = BENCHMARKS / first
    script = script / "__main__.py" if script.is_dir() else script
    with found_first([BENCHMARKS]), pytest.raises(CommandReadError):
        runpy.run_path(str(script), run_name="__main__")


def understood(name):
    """Return a method of a parser that reads the words, and lets nothing be run."""
    parse = getattr(argparse.ArgumentParser, name)

    def read(self, *words):
        parse(self, *words)
        raise CommandReadError

    return read


def test_what_is_to_be_run_is_run_before_pages_are_drawn(overview, monkeypatch, tmp_path, capfd):
    results = tmp_path / "results"
    shutil.copytree(BENCHMARKS / "results", results)
    monkeypatch.setenv("PRIVCLUST_RESULTS", str(results))
    for page in ("PAGE", "README"):
        copied = shutil.copy(getattr(overview, page), tmp_path)
        monkeypatch.setattr(overview, page, Path(copied))
    (kept,) = (b for b in overview.BENCHMARKS if b.file == "scale")
    tiny = overview.Benchmark("synthetic-size", ("synthetic_size.py --rows 300",), "fit")
    everything = (tiny, *(b for b in overview.BENCHMARKS if b is not kept), kept)
    monkeypatch.setattr(overview, "renew", only(tiny, overview.renew))
    monkeypatch.setattr(overview, "BENCHMARKS", everything)
    monkeypatch.setattr(sys, "argv", ["overview", "--run"])
    overview.main()
    assert "| 300 | tables |" in capfd.readouterr().out.replace(",", "")
    assert ",300," in (results / "synthetic-size.csv").read_text("utf-8")
    assert "synthetic_size.py --rows 300," in (results / "benchmark-costs.csv").read_text("utf-8")
    assert "## Time" in (tmp_path / "losses.md").read_text("utf-8")


def only(tiny, renew):
    """Return what renews one file and passes over those that take hours."""
    return lambda benchmark: renew(benchmark) if benchmark is tiny else None
