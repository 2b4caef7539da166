"""The report says the truth in plain words, loads nothing, runs nothing and fits both themes."""

from __future__ import annotations

import re
import threading
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from privclust.budget import Budget, Loss
from privclust.exceptions import ReleaseError
from privclust.privacy.meter import Charge
from privclust.release import storage
from privclust.reports.page import _parts
from privclust.reports.plots import principal_map
from privclust.reports.promise import explain_promise
from privclust.reports.words import factor, percent
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.statement import PrivacyStatement
from privclust.unit.rows import Person, ReplaceRow
from support.releases import CENTERS, SCHEMA, as_one_sentence, make_release, statement

# For tests of what a report says, not of what it shows.
words_only = pytest.mark.usefixtures("blank_pictures")

EXTERNAL = re.compile(r"https?:|//[a-z]|\b(src|srcset|poster|action|data)=|@import|url\((?!#)")
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def wide(k: int, d: int, seed: int = 0, prefix: str = "x"):
    """Return a release with k clusters in d columns."""
    random = np.random.default_rng(seed)
    schema = Schema.from_bounds(0, 10, [f"{prefix}{i}" for i in range(d)])
    sizes = random.integers(-20, 1000, k)
    return make_release(random.uniform(0, 10, (k, d)), schema, sizes=sizes)


@cache
def wide_html(*shape) -> str:
    """Return the report of such a release; drawing takes its time, so it is drawn once."""
    return wide(*shape).to_html()


SHAPES = [(1, 1), (2, 1), (3, 2), (4, 3), (100, 500)]
SHAPES_IN_WORDS = [(1, 3), (13, 20), (41, 3), (101, 2)]


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_a_report_of_any_size_is_sound_and_self_contained(k, d):
    check_sound(wide_html(k, d))


@words_only
@pytest.mark.parametrize(("k", "d"), SHAPES_IN_WORDS)
def test_the_words_of_a_report_of_any_size_are_sound_and_self_contained(k, d):
    check_sound(wide(k, d).to_html())


def check_sound(html):
    page = Page(html)
    assert not EXTERNAL.search(html)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & {t for t, _ in page.tags}
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {a["href"][1:] for a in page.of("use")} | set(re.findall(r"url\(#([^)]*)\)", html))
    assert used <= set(ids)
    assert len(html) < 2_000_000


def test_a_large_report_says_what_it_leaves_out():
    text = Page(wide_html(100, 500)).text
    assert "Shown are the largest clusters and the columns in which they differ most" in text
    assert "The 8 largest clusters are drawn" in text
    assert "the other 484 are omitted" in text
    assert re.search(r"the other 5\d are omitted", text)  # of those that stand out
    assert "too large for this page" in text
    small = Page(wide_html(4, 3)).text
    assert "omitted" not in small


@words_only
def test_a_medium_report_has_the_complete_table_folded():
    page = Page(wide(13, 20).to_html())
    assert "All 13 centres in all 20 columns and categories" in page.text
    assert all(f"x{j}" in page.text for j in range(20))


def test_the_columns_that_tell_clusters_apart_come_first():
    centers = np.full((3, 30), 5.0)
    centers[:, 17] = [0, 5, 10]
    schema = Schema.from_bounds(0, 10, [f"x{i}" for i in range(30)])
    html = make_release(centers, schema).to_html()
    drawn = re.search(r'<svg[^>]*aria-label="Heat map.*?</svg>', html, re.DOTALL)[0]
    assert re.findall(r">(x\d+)</text>", drawn)[0] == "x17"


def test_equal_releases_have_equal_reports():
    assert wide(2, 2).to_html() == wide(2, 2).to_html()


def test_reports_can_be_made_in_threads():
    expected = wide_html(2, 1)
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(wide(2, 1).to_html())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@words_only
def test_every_query_is_listed_with_noise_and_exact_cost():
    queries = [f"query number {i} <b>" for i in range(40)]
    html = make_release(privacy=statement(1, queries=queries)).to_html()
    page = Page(html)
    for query in queries:
        assert query in page.text
        assert f"noise of {query}" in page.text
    costs = [a["title"] for a in page.of("span") if a.get("class") == "exact"]
    assert costs == ["exactly 1/40"] * 40
    assert "0.025" in page.text


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$\\frac{1}$",
    "</svg><script>",
    "&lt;b&gt;",
    "{{ 7 * 7 }}",
    "a\nb\x00c\u202e",
    '#010201 id="x" fill: #010201',
    "年齢 возраст 😀",
    "x" * 300,
]


@pytest.mark.parametrize("d", [2, 10])
def test_hostile_column_names_are_only_text(d):
    names = HOSTILE[:d] if d > 2 else [HOSTILE[3], HOSTILE[0]]
    schema = Schema.from_bounds(0, 1, names)
    random = np.random.default_rng(1)
    unit = Person(HOSTILE[0], 3)
    privacy = statement(unit=unit, queries=HOSTILE[:2])
    release = make_release(
        random.uniform(0, 1, (4, len(names))), schema, privacy=privacy,
        parameters={name: name for name in HOSTILE},
    )  # fmt: skip
    html = release.to_html()
    page = Page(html)
    assert {t for t, _ in page.tags}.isdisjoint({"script", "img"})
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert "<script" not in html
    assert "{{ 7 * 7 }}" in page.text
    assert HOSTILE[0] in page.text
    assert "<script" not in release._repr_html_()
    if d > 2:
        assert "$\\frac{1}$" in page.text
        assert "年齢 возраст 😀" in page.text
        assert '#010201 id="x" fill:…' in page.text or '#010201 id="x" fill: #010201' in page.text


def test_pictures_take_their_colours_from_the_page():
    html = wide_html(6, 4)
    style = html[html.index("<style>") : html.index("</style>")]
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    dark = style[style.index("prefers-color-scheme: dark") :]
    for name in ("paper", "ink", "muted", "line", "accent", "above", "below"):
        assert f"--{name}:" in style
        assert f"--{name}:" in dark
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(pictures) == 6  # strips, heat map and map, for a page and for a phone
    for picture in pictures:
        assert "var(--" in picture
        assert not re.search(r"(fill|stroke): *(#|rgb|black|white)", picture)
        assert "font-family" not in picture


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
def test_text_stands_out_in_both_themes(theme):
    html = wide_html(3, 3)
    colour = {
        name: re.findall(rf"--{name}: (#[0-9a-f]{{6}})", html)[theme]
        for name in ("paper", "ink", "muted", "accent", "warn")
    }
    paper = luminance(colour.pop("paper"))
    for name, value in colour.items():
        light, dark = max(paper, luminance(value)), min(paper, luminance(value))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def test_pictures_have_words_for_those_who_cannot_see_them():
    for picture in Page(wide_html(6, 4)).of("svg"):
        assert picture["role"] == "img"
        assert len(picture["aria-label"]) > 60


@words_only
def test_a_seeded_release_carries_a_banner_and_promises_nothing():
    html = make_release(privacy=statement(private=False)).to_html()
    page = Page(html)
    assert {"class": "alarm", "role": "alert"} in page.of("div")
    assert page.text.count("NOT PRIVATE") >= 3
    assert "Nothing was protected" in page.text
    assert "strong guarantee" not in page.text
    private = make_release().to_html()
    assert "NOT PRIVATE" not in private
    assert 'class="alarm"' not in private


@words_only
@pytest.mark.parametrize(
    ("epsilon", "strength", "said"),
    [
        (0.01, "strong", "1.011"),
        (1, "strong", "2.72"),
        (3, "moderate", "20.1"),
        (5, "moderate", "149"),
        (6, "weak", "404"),
        (8, "weak", "2,981"),
        (12, "very weak", "162,755"),
        (100, "very weak", "10^44"),
        (10**6, "very weak", "10^434295"),
    ],
)
def test_the_strength_is_told_honestly(epsilon, strength, said):
    promise = explain_promise(statement(epsilon))
    assert promise.strength == strength
    assert f"≈ {said}." in promise.odds
    assert ("weak guarantee" in promise.verdict) == (epsilon > 5)
    assert f"{strength} guarantee" in promise.verdict
    assert make_release(privacy=statement(epsilon)).to_html()


def test_guesses_follow_bayes():
    before_after = [(g.before, g.least, g.most) for g in explain_promise(statement(1)).guesses]
    assert before_after[2] == ("50 %", "26 %", "74 %")
    assert before_after[0] == ("1 %", "0.37 %", "2.7 %")  # 0.3702 and 2.672


@pytest.mark.parametrize("share", [1e-9, 1e-5, 0.004, 0.5, 0.9949, 0.999949, 0.9999999, 1.0])
def test_no_chance_is_rounded_to_certainty(share):
    assert percent(share) not in ("0 %", "100 %")
    assert not percent(share).startswith("100")


def test_factors_are_readable():
    said = ["1.106", "1.65", "7.39", "22,027", "10^18"]
    assert [factor(epsilon) for epsilon in (0.1, 0.5, 2, 10, 40)] == said


@words_only
def test_delta_is_explained_and_judged_by_the_number_of_rows():
    small = explain_promise(statement(1, 1e-6), rows=1000)
    assert "1 in 556,000" in small.delta
    assert "not small" not in small.delta
    assert "not small" in explain_promise(statement(1, 1e-6), rows=10**7).delta
    assert explain_promise(statement(1)).delta == ""
    assert explain_promise(statement(1, 0.05)).strength == "weak"
    assert explain_promise(statement(1, 0.5)).strength == "very weak"
    html = make_release(privacy=statement(1, 1e-6)).to_html()
    assert "Cost in ρ" in html
    assert "ρ" not in make_release().to_html()


@words_only
@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (Person("patient", 5), "that a given person is in the data"),
        (ReplaceRow(), "what a given row says"),
        (None, "that a given row is in the data"),
    ],
)
def test_the_unit_is_named(unit, said):
    privacy = statement(unit=unit)
    page = Page(make_release(privacy=privacy).to_html())
    assert said in page.text
    assert privacy.protects in page.text


def test_queries_that_differ_by_a_counter_share_a_part_of_the_bar():
    queries = [
        *("rows", "cells, round 1 of 2: counts", "cells, round 2 of 2: counts"),
        *("sums, step 1", "sums, step 2", "sums, step 3"),
        *("mean (1)", "mean (2)", "alone, round 1"),
    ]
    parts = _parts(statement(queries=queries))
    assert [(part.name, part.queries) for part in parts] == [
        ("rows", 1),
        ("cells, each round: counts", 2),
        ("sums, each step", 3),
        ("mean", 2),
        ("alone, round 1", 1),
    ]
    assert sum(part.share for part in parts) == pytest.approx(1)


def test_many_parts_are_gathered_and_the_rest_is_shown():
    words = "abcdefghijkl"
    charges = tuple(Charge(word, Loss.of_pure(Fraction(1, 20)), "") for word in words)
    privacy = PrivacyStatement(Fraction(1), Fraction(0), {}, "All.", charges)
    parts = _parts(privacy)
    assert [part.name for part in parts] == [*"abcdefg", "everything else", "not spent"]
    assert parts[-2].queries == 5
    assert parts[-1].share == pytest.approx(8 / 20)
    assert sum(part.share for part in parts) == pytest.approx(1)


def test_a_budget_spent_in_rho_fills_the_bar():
    privacy = statement(1, 1e-6)
    assert sum(part.share for part in _parts(privacy)) == pytest.approx(1)
    assert privacy.spent.rho == Budget(1, 1e-6).amount


@words_only
def test_the_list_of_queries_says_what_each_asks_if_the_release_does():
    whole = Loss.of_pure(Fraction(1))
    charges = (Charge("step 1: counts", whole, "noise", "how many rows are near <each> centre"),)
    told = PrivacyStatement(Fraction(1), Fraction(0), {}, "All.", charges)
    page = make_release(privacy=told).to_html()
    assert "<th>What it asks</th>" in page
    assert "how many rows are near &lt;each&gt; centre" in page
    assert "What it asks" not in make_release().to_html()


@words_only
def test_a_release_without_queries_has_a_report():
    nothing = PrivacyStatement(Fraction(1), Fraction(0), {}, "All.", ())
    assert "not spent" in make_release(privacy=nothing).to_html()


@words_only
def test_sizes_that_noise_hides_are_no_findings():
    text = Page(make_release(sizes=[100, 50, 12, -7]).to_html()).text
    assert "About 155 rows fall into 2 groups" in text
    assert "2 more clusters were asked for, but have too few rows" in text
    assert "at most 27" in text
    assert "at most 15" in text
    assert "−" not in text
    empty = Page(make_release(sizes=[-1, -2, -3, -4]).to_html()).text
    assert "Nothing can be learned from this release" in empty
    assert "What was found" not in empty


def test_a_constant_and_an_extreme_column_can_be_drawn():
    schema = Schema({"tiny": Box(0, 1e-12), "huge": Box(-1e15, 1e15), "flat": Box(0, 1)})
    centers = [[1e-13, -9e14, 0.5], [9e-13, 9e14, 0.5]]
    assert Page(make_release(centers, schema).to_html())
    same = Schema.from_bounds(0, 1, ["a", "b", "c"])
    assert Page(make_release(np.full((3, 3), 0.5), same).to_html())


@words_only
def test_what_the_schema_declares_is_told():
    schema = Schema({"age": Box(0, 120, missing=40)}, note="from the census")
    text = Page(make_release([[10], [90]], schema).to_html()).text
    assert "0 to 120" in text
    assert "counted as 40" in text
    assert "from the census" in text


def test_the_map_keeps_distances_of_centres_in_a_plane():
    random = np.random.default_rng(3)
    flat = random.normal(size=(6, 2)) @ np.linalg.qr(random.normal(size=(5, 2)))[0].T + 7
    place = principal_map(flat, np.arange(1.0, 7.0), list("abcde"))
    assert place.points.shape == (6, 2)
    distances = np.linalg.norm(flat[:, None] - flat, axis=-1)
    drawn = np.linalg.norm(place.points[:, None] - place.points, axis=-1)
    assert np.allclose(distances, drawn)


def test_the_map_of_centres_on_a_line_is_a_line():
    line = np.outer([0.0, 1, 5], [3.0, 0, 4])
    place = principal_map(line, np.ones(3), ["a", "b", "c"])
    assert place.points.shape == (3, 1)
    assert place.axes[0].startswith("more c, more a\N{NO-BREAK SPACE}→")


@words_only
def test_the_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    release = make_release()
    assert release.report(tmp_path / "r.html") == tmp_path / "r.html"
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == release.to_html()
    assert release.report(tmp_path) == tmp_path / "report.html"
    with pytest.raises(ReleaseError) as error:
        release.report(tmp_path / "missing" / "r.html")
    as_one_sentence(error, "missing", "create it")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(ReleaseError) as error:
        make_release(created="2025-01-01").report(tmp_path / "r.html")
    as_one_sentence(error, "does not fit on the disk")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == release.to_html()
    assert {p.name for p in tmp_path.iterdir()} == {"r.html", "report.html"}


@words_only
def test_tables_show_the_released_numbers():
    page = Page(make_release(CENTERS, SCHEMA).to_html())
    for said in ("512", "20.12", "0 to 120", "0 to 1,000", "± 15", "receipt-42", "lloyd"):
        assert said in page.text
    assert make_release().digest in page.text


def cells_from_release(html):
    """Return the words of every line of every table of a page."""
    lines = re.findall(r"<tr\b.*?</tr>", html, re.DOTALL)
    return [re.findall(r"<t[hd]\b[^>]*>\s*(.*?)\s*</t[hd]>", line, re.DOTALL) for line in lines]


@words_only
def test_every_number_of_a_report_stands_beside_its_own_cluster():
    sizes, errors = [100, 400, 200, 300], np.arange(12.0).reshape(4, 3) + 1
    arrays = {**make_release(sizes=sizes).arrays, "cluster_centers_error": errors}
    arrays["cluster_sizes_error"] = np.array([1.0, 2.0, 3.0, 4.0])
    lines = cells_from_release(make_release(arrays=arrays).to_html())
    for line in (
        ["Column", "cluster 1", "cluster 3", "cluster 2", "cluster 0", "all rows"],
        ["number of rows", "400 ± 4", "300 ± 8", "200 ± 6", "100 ± 2", "about 1,000"],
        ["income", "900 ± 10", "512 ± 22", "200 ± 16", "100 ± 4", "560"],
        [
            "visits<small>missing values counted as 5 (number not asked)</small>"
            "<small>no clear difference</small>",
            *("10 ± 12", "hidden by noise", "40 ± 18", "5 ± 6", "19"),
        ],
        ["age", "60 ± 8", "42 ± 20", "80 ± 14", "20 ± 2", "54"],
    ):
        assert line in lines


@words_only
def test_one_cluster_that_stands_out_of_several_is_no_finding():
    text = Page(make_release(sizes=[500, 3, 2, -4]).to_html()).text
    assert "Nothing can be learned from this release About 501 rows were read." in text
    assert "What was found" not in text
    assert "these centres and sizes are mostly noise" in text
    alone = Page(make_release(CENTERS[:1], sizes=[500]).to_html()).text
    assert "About 500 rows fall into 1 group" in alone


def test_a_picture_is_the_same_text_every_time():
    """The layout's last bits differ from run to run, and a report is compared to the letter."""
    pages = {make_release().to_html() for _ in range(4)}
    assert len(pages) == 1
