"""A report fits a phone, is true in both themes, and draws and promises no more than there is."""

from __future__ import annotations

import ast
import colorsys
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import privclust
from privclust import (
    Categories,
    PrivateCoclustering,
    PrivateSummary,
)
from privclust.exceptions import ReleaseError
from privclust.papers.dilca import PrivateContextKMeans
from privclust.release.document import About
from privclust.reports.promise import explain_promise
from privclust.schema.schema import Schema
from privclust.source_target.estimator import PrivateSourceTargetMedoids
from support.releases import make_release, statement

# For tests of what a report says, not of what it shows.
words_only = pytest.mark.usefixtures("blank_pictures")

LEAK = "the pipeline step 'scale' was fitted on the same rows without noise"
CHOSEN = "it was chosen by exact scores of private rows"


def categorical():
    rows = np.random.default_rng(0).integers(3, size=(300, 2))
    schema = Schema(dict.fromkeys(("a", "b"), Categories(range(3))))
    return PrivateContextKMeans(2, schema=schema, epsilon=50, random_state=0).fit(rows).release()


def coclustering():
    counts = np.random.default_rng(0).poisson(2, (40, 12))
    return PrivateCoclustering(2, 2, epsilon=50, random_state=0).fit(counts).release()


def source_target():
    towns = [[x / 4, y / 4] for x in range(5) for y in range(5)]
    model = PrivateSourceTargetMedoids(2, epsilon=20, random_state=0)
    return model.fit(towns, source=[[0.3, 0.4]] * 300).release()


def summary():
    rows = np.random.default_rng(0).uniform(size=(300, 4))
    return PrivateSummary(bounds=(0, 1), epsilon=20, random_state=0).fit(rows).release()


@pytest.fixture(scope="module")
def releases():
    return {
        "kmeans": make_release(),
        "categorical": categorical(),
        "coclustering": coclustering(),
        "source_target": source_target(),
        "summary": summary(),
    }


@pytest.fixture(scope="module")
def pages(releases):
    return {name: release.to_html() for name, release in releases.items()}


KINDS = ["kmeans", "categorical", "coclustering", "source_target", "summary"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_drawn_for_a_page_and_for_a_phone(pages, kind):
    page = pages[kind]
    drawn = re.findall(r'<svg class="plot (\w+)"[^>]*viewBox="0 0 ([\d.]+)', page)
    assert [width for width, _ in drawn] == ["wide", "narrow"] * (len(drawn) // 2)
    assert drawn
    for width, points in drawn:
        # On a phone a point is about 4/3 pixels, so letters stay as large as in the text.
        assert float(points) > 600 if width == "wide" else float(points) <= 390 * 0.75
    assert re.search(
        r"@media screen and \(max-width: 36rem\) \{\s*svg\.plot\.wide \{ display: none", page
    )
    assert not re.search(r"svg\.plot[^{]*\{[^}]*min-width: [1-9]", page)


class TablesOutside(HTMLParser):
    """Counts the tables of a page, and those that no box around them lets scroll."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes, self.tables, self.outside = [], 0, 0

    def handle_starttag(self, tag, attrs):
        if tag in ("div", "figure", "section"):
            self.boxes.append("scroll" in (dict(attrs).get("class") or "").split())
        elif tag == "table":
            self.tables += 1
            self.outside += not any(self.boxes)

    def handle_endtag(self, tag):
        if tag in ("div", "figure", "section"):
            self.boxes.pop()


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_can_be_scrolled_within_a_page_that_cannot(pages, kind):
    """A table that is wider than a phone is not cut and does not widen the page."""
    page = pages[kind]
    found = TablesOutside()
    found.feed(page)
    assert found.tables > 2
    assert not found.outside
    assert re.search(r"\.scroll \{ overflow-x: auto; \}", page)
    assert 'name="viewport" content="width=device-width' in page


@pytest.mark.parametrize("kind", KINDS)
def test_no_legend_speaks_of_dark_and_light(pages, kind):
    words = re.sub(r"<style>.*?</style>", "", pages[kind], flags=re.DOTALL)
    assert not re.search(r"\b(darker|lighter|brighter|paler)\b", words)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_are_those_that_legends_name_in_both_themes(pages, theme):
    for name, low, high in (("above", 20, 45), ("below", 195, 225)):
        colour = re.findall(rf"--{name}: #([0-9a-f]{{6}})", pages["kmeans"])[theme]
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
        hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
        assert low <= 360 * hue <= high
        assert saturation > 0.4


@words_only
def test_centres_that_never_saw_the_rows_are_not_drawn_as_findings():
    blind = replace(make_release(), parameters={"signal": "none"}).to_html()
    assert "<svg" not in blind
    assert "Nothing can be learned from this release" in blind
    assert "What was found" not in blind
    assert "Where the centres lie" not in blind
    sound = make_release().to_html()
    assert "<svg" in sound
    assert "Nothing can be learned" not in sound


@words_only
def test_clusters_of_categories_that_never_saw_the_rows_are_not_shown(releases):
    release = releases["categorical"]
    page = replace(release, parameters={**release.parameters, "signal": "none"}).to_html()
    assert "No clusters were found" in page
    assert "What was found" not in page


@words_only
def test_every_flaw_is_named_in_red():
    privacy = replace(statement(), flaws=(LEAK, CHOSEN))
    page = make_release(privacy=privacy).to_html()
    alarm = re.search(r'<div class="alarm" role="alert">.*?</div>', page, re.DOTALL)[0]
    listed = re.search(r'<ul class="flaws">.*?</ul>', page, re.DOTALL)[0]
    for flaw in (LEAK, CHOSEN):
        escaped = flaw.replace("'", "&#39;")
        for part in (alarm, listed):
            assert escaped[1:] in part
    assert "strong guarantee" not in page
    assert "SEEDED" not in page
    assert "came from a seed" not in page
    assert re.search(r"\.alarm \{\s*background: var\(--alarm\)", page)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rows", "strength"),
    [
        (1, 0, 10**9, "strong"),
        (1, 1e-6, 10**4, "strong"),
        (1, 1e-6, 10**5, "strong"),
        (1, 1e-5, 10**5, "moderate"),
        (1, 1e-6, 5 * 10**5, "moderate"),
        (1, 1e-6, 2 * 10**6, "weak"),
        (1, 1e-6, None, "strong"),
        (1, 1e-4, None, "moderate"),
        (1, 1e-4, -50, "moderate"),
        (1, 0.01, 3, "weak"),
        (3, 1e-9, 10**4, "moderate"),
        (11, 0, 10, "very weak"),
    ],
)
def test_a_guarantee_is_called_strong_only_if_delta_is_far_below_one_in_the_rows(
    epsilon, delta, rows, strength
):
    promise = explain_promise(statement(epsilon, delta), rows)
    assert promise.strength == strength
    assert f"{strength} guarantee" in promise.verdict


@words_only
def test_a_report_judges_delta_by_the_noisy_number_of_rows():
    assert "weak guarantee" in make_release(privacy=statement(1, 1e-4), sizes=[9000] * 4).to_html()
    assert "strong guarantee" in make_release(privacy=statement(1, 1e-6)).to_html()


def test_names_of_centres_are_in_table_and_facts(releases):
    named = releases["source_target"].with_about(About(names=["Aarau", "Biel <b>"]))
    page = named.to_html()
    assert "Aarau" in page
    assert "Biel &lt;b&gt;" in page
    assert [centre["name"] for centre in named.facts().values["centers"]] == ["Aarau", "Biel <b>"]
    assert named.facts().listings[0].headings[1] == "name"
    assert named.digest == releases["source_target"].digest
    with pytest.raises(ReleaseError, match="There are 3 names for 2 centres"):
        named.with_about(About(names=["a", "b", "c"]))


def test_names_of_columns_are_in_the_report_of_a_coclustering(releases):
    named = releases["coclustering"].with_about(About(names=[f"word {j}" for j in range(12)]))
    assert "word 11" in named.to_html()
    assert named.digest == releases["coclustering"].digest
    assert named.facts().values["column_names"][11] == "word 11"


@pytest.mark.parametrize("kind", KINDS)
def test_facts_of_every_kind_are_plain_and_their_tables_even(releases, kind):
    import json

    facts = releases[kind].facts()
    assert json.loads(json.dumps(dict(facts.values), allow_nan=False))
    for listing in facts.listings:
        assert {len(line) for line in listing.lines} == {len(listing.headings)}
        assert all(isinstance(cell, str) for line in listing.lines for cell in line)


def _texts_of_notes() -> list[str]:
    """Return the sentences in files that make notes, with a word in place of each value."""
    found = []
    for path in Path(privclust.__file__).parent.rglob("*.py"):
        source = path.read_text("utf-8")
        if "Note(" not in source or "papers" in path.parts:
            continue
        nodes = [*ast.walk(ast.parse(source))]
        inner = {id(it) for node in nodes if isinstance(node, ast.JoinedStr) for it in node.values}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                parts = [it.value if isinstance(it, ast.Constant) else "it" for it in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and id(node) not in inner:
                found.append(str(node.value))
    return [text for text in found if re.search(r"; (raise|ask|declare|allow|use) ", text)]


@words_only
def test_advice_stands_behind_the_last_semicolon_of_a_note_and_is_not_for_readers():
    texts = _texts_of_notes()
    assert len(texts) >= 10
    for text in texts:
        parameters = {"signal": "hidden", "notes": ["clusters-hidden"], "warnings": [text]}
        page = replace(make_release(), parameters=parameters).to_html()
        told = re.search(r'<p class="verdict weak">(.*?)</p>', page, re.DOTALL)[1]
        assert not re.search(r"epsilon|plan\(|\braise\b|\bdeclare\b|budget", told), told
