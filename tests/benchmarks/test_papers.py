"""The papers: every experiment runs at a tiny size, and the pages say what the files hold."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from privclust.papers.datasets.named import category_set
from support.scripts import BENCHMARKS, scripts

ROOT = Path(__file__).parents[2]
RESULTS = BENCHMARKS / "results"


NAMES = (
    "experiments",
    "filling",
    "given",
    "pivoting",
    "shown",
    "claims",
    "drawing",
    "judging",
    "tau",
    "zones",
)
papers = SimpleNamespace(**dict(zip(NAMES, scripts(*NAMES, inside="papers"), strict=True)))
DOCS = [ROOT / "docs" / page for page in papers.filling.PAGES]


@pytest.mark.parametrize("name", papers.experiments.EXPERIMENTS)
def test_every_experiment_of_the_papers_runs_without_data(name, tmp_path, monkeypatch):
    monkeypatch.setattr(papers.zones, "MOST_ITERATIONS", 20)
    given = papers.given.Given("tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = list(papers.experiments.EXPERIMENTS[name].rows(given))
    if name == "dilca-examples":  # it is about one data set, which is not there
        assert rows == []
        return
    path = papers.given.keep(name, rows, given, tmp_path)
    kept = papers.pivoting.rows_in(tmp_path)[name]
    assert len(kept) == len(rows) > 0
    assert path.parent == tmp_path
    assert all(row[key] for row in kept for key in ("seed", "commit", "date", "machine", "runs"))


# What these are about is not chosen by name.
WITHOUT_NAMES = {
    *("tau-leakage", "tau-columns", "dilca-synthetic"),
    *("targets-solver", "targets-adaptation", "targets-bounds"),
}


@pytest.mark.parametrize("name", sorted(papers.experiments.EXPERIMENTS.keys() - WITHOUT_NAMES))
def test_a_set_that_an_experiment_does_not_have_gives_no_rows(name):
    given = papers.given.Given("tiny", sets=("absent",))
    assert list(papers.experiments.EXPERIMENTS[name].rows(given)) == []


def test_rows_of_one_set_replace_those_of_the_same_set_alone(tmp_path):
    given, row = papers.given.Given("tiny"), papers.given.row
    for value, name in ((1.0, "a"), (2.0, "b"), (3.0, "a")):
        papers.given.keep("x", [row("m", value, 0.1, 2, set=name)], given, tmp_path)
    kept = papers.pivoting.rows_in(tmp_path)["x"]
    assert {line["set"]: line["mean"] for line in kept} == {"a": "3", "b": "2"}


def test_every_set_is_kept_as_soon_as_it_is_done_and_whole_if_it_comes_twice(tmp_path):
    given, row = papers.given.Given("tiny"), papers.given.row

    def rows():
        for number, name in enumerate("abac"):
            yield row("m", number, 0.1, 2, set=name)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        papers.given.keep_by_set("x", rows(), given, tmp_path)
    kept = papers.pivoting.rows_in(tmp_path)["x"]
    assert sorted((line["set"], line["mean"]) for line in kept) == [
        ("a", "0"),
        ("a", "2"),
        ("b", "1"),
    ]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_a_page_says_what_the_files_hold(page, tmp_path):
    rows = papers.pivoting.rows_in(RESULTS)
    copy = tmp_path / page.name
    shutil.copy(page, copy)
    names = papers.filling.markers(page)
    for name in names:
        papers.filling.put_table(copy, name, papers.filling.filled(name, rows))
    assert names
    assert copy.read_text("utf-8") == page.read_text("utf-8"), "run: benchmarks/papers page"


def test_every_table_and_every_plot_stands_on_a_page():
    shown = [name for page in DOCS for name in papers.filling.markers(page)]
    claims = [f"{paper}-claims" for paper in papers.claims.CLAIMS]
    assert sorted(shown) == sorted([*papers.shown.TABLES, *claims])
    text = "".join(page.read_text("utf-8") for page in DOCS)
    pictures = [*papers.drawing.FIGURES, *papers.filling.PICTURES]
    assert [name for name in pictures if f"figures/{name}.png" not in text] == []


def test_a_table_without_results_says_how_to_make_them():
    for make in papers.shown.TABLES.values():
        assert make({}).startswith("*No results yet")


def test_pages_are_filled_beside_results_that_are_not_committed(tmp_path):
    given = papers.given.Given("tiny")
    rows = papers.experiments.EXPERIMENTS["tau-leakage"].rows(given)
    papers.given.keep("tau-leakage", list(rows), given, tmp_path / "results")
    papers.filling.fill(tmp_path / "results", tmp_path / "docs")
    text = (tmp_path / "docs" / "research" / "dp-tau-cc.md").read_text("utf-8")
    assert "| A' | [[9, 2], [0, 16]] | the last |" in text
    assert "tiny setting" in text


def test_fewer_runs_than_the_papers_are_told_with_what_its_number_would_take(tmp_path):
    given, row = papers.given.Given("tiny"), papers.given.row

    def rows():
        yield row("cost", 1, 0.1, 3, set="a")
        yield row("cost", 1, 0.1, 30, set="b")

    papers.given.keep_by_set("targets-nearest", rows(), given, tmp_path)
    kept = papers.pivoting.rows_in(tmp_path)
    spent = kept[papers.given.SPENT]
    assert [(line["experiment"], line["set"]) for line in spent] == [
        ("targets-nearest", "a"),
        ("targets-nearest", "b"),
    ]
    spent[0]["seconds"] = "12"
    told = papers.shown.TABLES["targets-settings"](kept)
    assert (
        "2 sets, 3 to 30 runs; fewer than its 30 on 1, where it would take about 2 minutes" in told
    )
    assert "fewer" not in papers.shown.TABLES["targets-settings"](
        {"targets-nearest": kept["targets-nearest"][1:]}
    )


def test_a_share_of_no_gap_is_not_shown():
    row = papers.given.row
    rows = [
        row("cost, mean of all k", cost, 0, 1, set=name, method=method)
        for name, costs in {"far": (1.0, 0.5), "equal": (1.0, 0.999)}.items()
        for method, cost in zip(("ClusterT", "not private"), costs, strict=True)
    ]
    assert {line["set"] for line in papers.pivoting.with_a_gap(rows)} == {"far"}


def test_a_verdict_from_small_runs_is_called_a_hint():
    row = papers.given.row
    rows = [
        {**row("nmi", 0.5, 0, 2, set="a", method=method, at=at), "setting": "small"}
        for method, at in (
            ("DP-tauCC, paper's noise, 4 rounds", "1"),
            ("DP-tauCC, paper's noise, 4 rounds", "3"),
            ("Fast-tauCC, not private", ""),
        )
    ]
    small = papers.claims.claims_table("tau", {"tau-epsilon": rows})
    full = [{**line, "setting": "full"} for line in rows]
    assert "| a hint, from few runs or sets: holds |" in small
    assert "a hint" not in papers.claims.claims_table("tau", {"tau-epsilon": full})


@pytest.mark.parametrize(
    ("mean", "error", "verdict"),
    [(0.5, 0.02, "holds"), (0.5, 0.04, "not decided"), (0.3, 0.02, "**does not hold**")],
)
def test_a_verdict_needs_a_clear_difference(mean, error, verdict):
    row = papers.given.row
    rows = [
        {**row("nmi", value, own, 10, set="a", method=method, at=at), "setting": "full"}
        for method, at, value, own in (
            ("DP-tauCC, paper's noise, 4 rounds", "1", mean, error),
            ("DP-tauCC, paper's noise, 4 rounds", "3", 0.5, 0),
        )
    ]
    table = papers.claims.claims_table("tau", {"tau-epsilon": rows})
    near = next(line for line in table.splitlines() if "approaches the best" in line)
    assert near.split(" | ")[1] == verdict


@pytest.mark.parametrize(
    ("wins", "losses", "undecided", "verdict"),
    [
        (3, 0, 0, "holds"),
        (3, 0, 1, "mostly holds"),
        (2, 1, 0, "mostly holds"),
        (3, 3, 0, "holds in part"),
        (1, 2, 0, "**mostly does not hold**"),
        (0, 3, 1, "**mostly does not hold**"),
        (0, 3, 0, "**does not hold**"),
        (1, 0, 99, "mostly undecided"),
        (0, 1, 99, "mostly undecided"),
        (0, 0, 2, "not decided"),
    ],
)
def test_a_verdict_follows_from_the_cases_for_and_against(wins, losses, undecided, verdict):
    assert papers.judging.verdict_of(wins, losses, undecided) == verdict


def test_few_runs_need_a_larger_difference():
    figure = papers.judging.Figure
    assert papers.judging.ahead(figure(1.0, 0.1, 30), figure(0.7, 0.0)) == 1
    assert papers.judging.ahead(figure(1.0, 0.1, 3), figure(0.7, 0.0)) == 0
    assert papers.judging.ahead(figure(1.0, 0.1, 1), figure(0.0, 0.1, 1)) == 0
    assert papers.judging.ahead(figure(1.0, 0.0, 30), figure(2.0)) == -1


def test_budgets_stand_in_the_order_of_their_size_and_whole_numbers_have_no_powers():
    row = papers.given.row
    rows = [row("share", value, 0, 3, set="a", by=by) for by, value in (("ρ=3", 0.2), ("ε=10", 9))]
    rows += [row("share", -0.3, 0, 3, set="a", by="ε=3")]
    table = papers.pivoting.pivot(rows, ("set",), "by", 0).splitlines()
    assert table[0] == "| set | ε=3 | ε=10 | ρ=3 |"
    assert table[2] == "| a | 0 | 9 | 0 |"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("cmc.csv.gz", b"a,b\n1,2\n", "has the columns a1, a2, but none called a4; put"),
        ("mushroom.csv.gz", b"a,b\n1,2\n", "has the columns a, b, but none called class; put"),
        ("nltcs.csv.gz", b"", "does not hold a table with the columns of this set"),
        ("cstr.npz", b"no archive", "does not hold a matrix of counts"),
    ],
)
def test_a_file_that_holds_something_else_is_left_out_in_one_sentence(
    name, content, sentence, tmp_path, capsys
):
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    given, own = papers.given.Given("tiny", tmp_path), name.split(".")[0]
    read = papers.tau.open_matrix if name.endswith(".npz") else category_set
    assert list(given.opened((own, "absent"), read)) == []
    one, other = capsys.readouterr().out.splitlines()
    assert one.startswith(f"{own} is left out: ")
    assert sentence in one
    assert "There is no file 'absent'" in other


@pytest.mark.system
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tua-epsilon"], "no such paper or experiment; there are dilca, targets, tau, zones, tau"),
        (["tau", "--runs", "0"], "--runs must be at least 1"),
    ],
)
def test_the_command_says_what_there_is(arguments, sentence):
    command = [sys.executable, str(BENCHMARKS / "papers"), "run", *arguments]
    told = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert told.returncode == 2
    assert sentence in told.stderr.replace("\n", " ")


@pytest.mark.system
def test_sets_that_an_experiment_does_not_have_are_answered_with_those_it_has(tmp_path):
    asked = ["run", "zones-gaps", "--sets", "irs", "--output", str(tmp_path / "results")]
    command = [sys.executable, str(BENCHMARKS / "papers"), *asked]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert "of its sets (iris, wine, breast cancer) none is there and among --sets" in told
