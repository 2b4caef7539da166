"""A manager who knows nothing of privacy understands the first screen of a report.

A browser opens reports of every family on a desktop, on a phone and in the dark. Findings come
first, in words and numbers that people use; jargon is folded away; nothing is cut. With
``PRIVCLUST_SCREENSHOTS=folder`` it leaves pictures of the pages there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from privclust import (
    Box,
    Categories,
    PrivateBounds,
    PrivateCoclustering,
    PrivateDensity,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSourceTargetMedoids,
    PrivateSummary,
    Release,
    Schema,
)
from privclust.clustering import Summary
from privclust.release.document import About
from support import needed
from support.releases import make_release, statement

pytestmark = pytest.mark.filterwarnings("ignore")  # few rows, and a seed

PICTURES = os.environ.get("PRIVCLUST_SCREENSHOTS")
SCREENS: dict[str, Any] = {
    "desktop": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
}
# The words that are on the screen before anybody scrolls.
FIRST_SCREEN = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const shown = walker.currentNode.parentElement.checkVisibility();
    if (shown && box.width && box.top < innerHeight) seen.push(walker.currentNode.data.trim());
  }
  return seen.filter(Boolean).join(" ");
}"""
# What is wider than its place: text is cut, or reaches beyond the screen.
CUT = """() => [...document.querySelectorAll("p, li, h1, h2, h3, td, th, dd, figcaption, svg")]
  .filter((it) => it.checkVisibility() && !it.closest("svg svg"))
  .filter((it) => it.getBoundingClientRect().right > innerWidth + 1
    || (it.tagName !== "svg" && it.scrollWidth > it.clientWidth + 2 && it.clientWidth))
  .map((it) => it.outerHTML.slice(0, 120))"""
BEYOND = """() => [...document.querySelectorAll(".scroll")].filter((it) => it.checkVisibility()
  && it.scrollWidth > it.clientWidth + 1).map((it) => it.innerHTML.slice(0, 120))"""
# Labels of pictures that lie over each other or beyond their picture.
OUTSIDE = """() => [...document.querySelectorAll("svg.plot")].filter((it) => it.checkVisibility())
  .flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].map((it) => [it, it.getBoundingClientRect()])
      .filter(([, box]) => box.left < frame.left - 3 || box.right > frame.right + 3)
      .map(([it]) => it.textContent);
  })"""
JARGON = re.compile(
    r"\b(quer(y|ies)|Laplace|budget|offsets|inertia|zCDP|Kruskal|ledger|sensitivity)\b|[δρτ]"
)
RNG = np.random.default_rng(7)


def published(release: Release, title: str, names: tuple[str, ...] = ()) -> Release:
    """Return a seeded release as one that may be published, so that every run is the same."""
    private = replace(release, privacy=statement(1))
    return private.with_about(About(title=title, holder="City hospital", names=names))


def penguins() -> Release:
    means = np.array([[39, 18.3, 190, 3700], [48, 15.0, 217, 5080], [49, 18.4, 196, 3740]])
    kinds = np.repeat([0, 1, 2], [1500, 1200, 700])
    rows = means[kinds] + RNG.normal(size=(3400, 4)) * [2.5, 1, 6, 400]
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["sex"] = RNG.choice(["female", "male"], 3400)
    facts = [
        Box(30, 60, unit="mm", label="bill length"),
        Box(12, 23, unit="mm", label="bill depth"),
        Box(170, 235, unit="mm", label="flipper length"),
        Box(2500, 6500, unit="g", label="body mass"),
        Categories(["female", "male"]),
    ]
    schema = Schema(zip(frame.columns, facts, strict=True))
    model = PrivateKMeans(3, schema=schema, epsilon=2.0, random_state=0).fit(frame)
    return published(model.release(), "Penguins of three islands")


HOSPITAL = Schema(
    {
        "born": Box("1920-01-01", "2020-12-31", label="date of birth"),
        "creatinine": Box(0, 11, missing=1.1, unit="mg/dl", description="First after admission."),
        "stay": Box(0, 60, form="days", label="length of stay"),
        "ward": Categories(["medical", "surgical", "kidney"], missing="category"),
        "died": Box(0, 1, form="integer", label="died in hospital"),
    }
)


@cache
def patients() -> pd.DataFrame:
    n = 6000
    kind = RNG.choice(3, n, p=[0.5, 0.3, 0.2])
    days = np.array([5600, -7200, -11_500])[kind] + RNG.normal(0, 1500, n)
    creatinine = np.array([0.9, 1.1, 3.4])[kind] * np.exp(RNG.normal(0, 0.2, n))
    creatinine[RNG.random(n) < 0.17] = np.nan
    ward = np.array(["medical", "surgical", "kidney"], dtype=object)[kind]
    ward[RNG.random(n) < 0.05] = None
    return pd.DataFrame(
        {
            "born": days.astype("datetime64[D]"),
            "creatinine": creatinine,
            "stay": pd.to_timedelta(np.array([2.0, 6, 13])[kind] + RNG.random(n), unit="D"),
            "ward": ward,
            "died": (RNG.random(n) < np.array([0.01, 0.05, 0.22])[kind]).astype(int),
        }
    )


def hospital() -> Release:
    model = PrivateKMeans(3, schema=HOSPITAL, epsilon=2.0, random_state=0).fit(patients())
    return published(model.release(), "Patients of the city hospital")


def summary() -> Release:
    model = PrivateSummary(schema=HOSPITAL, epsilon=2.0, random_state=0).fit(patients())
    return published(model.release(), "Patients, summarised")


def cut_from_summary() -> Release:
    clusters = Summary(summary()).kmeans(3)
    assert clusters.about.title == "Patients, summarised"
    return published(clusters, "Patients, summarised", ("Young", "Older", "Kidney patients"))


def titanic() -> Release:
    n = 4000
    place = RNG.choice(["1st", "2nd", "3rd", "crew"], n, p=[0.15, 0.13, 0.32, 0.4])
    sex = np.where(RNG.random(n) < np.where(place == "crew", 0.97, 0.6), "man", "woman")
    survived = RNG.random(n) < np.where(sex == "woman", 0.74, 0.2)
    age = np.where(RNG.random(n) < 0.05, "child", "adult")
    frame = pd.DataFrame({"class": place, "sex": sex, "age": age, "survived": survived})
    schema = Schema(
        {
            "class": Categories(["1st", "2nd", "3rd", "crew"]),
            "sex": Categories(["man", "woman"]),
            "age": Categories(["adult", "child"]),
            "survived": Categories([True, False]),
        }
    )
    model = PrivateKMeans(3, schema=schema, metric="dilca", epsilon=2.0, random_state=0).fit(frame)
    return published(model.release(), "Who was on board")


def noise() -> Release:
    rows = RNG.normal(size=(60, 10))
    model = PrivateKMeans(4, bounds=(-5, 5), epsilon=0.05, random_state=0).fit(rows)
    return published(model.release(), "A table with few rows")


def coclustering() -> Release:
    counts = RNG.poisson(0.4, (300, 24))
    for part in range(3):
        counts[100 * part : 100 * part + 100, 8 * part : 8 * part + 8] += RNG.poisson(3, (100, 8))
    names = tuple(f"{word} {j}" for word in ("fruit", "bread", "tool") for j in range(8))
    model = PrivateCoclustering(3, 3, epsilon=2.0, random_state=0).fit(counts)
    return published(model.release(), "Baskets of a shop", names)


def mixture() -> Release:
    rows = np.concatenate([RNG.normal((3, 3), 0.6, (3000, 2)), RNG.normal((7, 6), 0.8, (3000, 2))])
    schema = Schema({"height": Box(0, 10, unit="m"), "girth": Box(0, 10, unit="m")})
    model = PrivateGaussianMixture(2, schema=schema, epsilon=2.0, delta=1e-6, random_state=0)
    return published(model.fit(rows).release(), "Trees of a park")


def density() -> Release:
    rows = np.concatenate([RNG.normal((3, 3), 0.6, (3000, 2)), RNG.normal((7, 6), 0.8, (3000, 2))])
    schema = Schema({"east": Box(0, 10, unit="km"), "north": Box(0, 10, unit="km")})
    model = PrivateDensity(schema=schema, epsilon=1.0, random_state=0).fit(rows)
    return published(model.release(), "Where accidents happen")


def source_target() -> Release:
    towns, source = RNG.uniform(0, 1, (200, 2)), RNG.normal((0.3, 0.3), 0.1, (400, 2))
    model = PrivateSourceTargetMedoids(3, epsilon=2.0, random_state=0).fit(towns, source=source)
    return published(model.release(), "Where three pharmacies help most")


def bounds() -> Release:
    rows = RNG.normal(50, 10, (4000, 2))
    return published(PrivateBounds(random_state=0).fit(rows).release(), "Ranges of two columns")


def wide() -> Release:
    """Return clusters with long names in many columns, as wide as a page allows."""
    columns = {f"laboratory_value_{j}": Box(0, 10) for j in range(8)}
    chapters = Categories(["Circulatory", "Mental", "Musculoskeletal"], missing="category")
    seen = {"chapter": chapters, "seen": Box("2020-01-01", "2024-12-31")}
    schema = Schema({**seen, "year": Box(1990, 2010, form="integer"), **columns})
    shares, days = RNG.dirichlet(np.ones(4), 6), RNG.uniform(18_300, 20_000, 6)
    numbers = RNG.uniform(1992, 2008, 6), *RNG.uniform(0, 10, (8, 6))
    centers = np.column_stack([shares, days, *numbers])
    made = make_release(centers, schema, sizes=[4000, 3000, 2000, 1000, 500, 90])
    arrays = {**made.arrays, "cluster_centers_error": np.abs(centers) / 200 + 0.005}
    names = ("Cardiovascular patients", "Mental health", "Children", "Emergency", "Bones", "Others")
    return published(make_release(arrays=arrays, schema=schema), "A wide table", names)


# The families, with what a reader must find on the first screen of a desktop.
REPORTS: dict[str, tuple[Callable[[], Release], tuple[str, ...]]] = {
    "penguins": (penguins, ("rows fall into 3 groups", "flipper length higher", "mm, on average")),
    "hospital": (hospital, ("rows fall into 3 groups", "date of birth later", "ward mostly")),
    "summary": (summary, ("What was found", "groups", "date of birth")),
    "cut": (cut_from_summary, ("rows fall into 3 groups", "Kidney patients", "Young")),
    "titanic": (titanic, ("rows fall into 3 groups", "sex mostly", "%, on average")),
    "noise": (noise, ("Nothing can be learned from this release",)),
    "coclustering": (coclustering, ("into 3 groups", "times as much as usual", "fruit")),
    "mixture": (mixture, ("2 groups that may overlap", "height higher", "girth lower")),
    "density": (density, ("2 clusters stand out", "densest at east", "km, north")),
    "source_target": (source_target, ("3 new centres were chosen for 200 targets",)),
    "wide": (wide, ("rows fall into 6 groups", "Cardiovascular patients", "on average")),
    "bounds": (bounds, ("The range of each column", "rows were read")),
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    program = needed.browser()
    with sync_playwright() as started:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = started.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for name, (make, _) in REPORTS.items():
        make().report(folder / f"{name}.html")
    return folder


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", REPORTS)
def test_findings_come_first_and_nothing_is_cut(chromium, pages, name, screen):
    context = chromium.new_context(**SCREENS[screen], bypass_csp=True)
    page = context.new_page()
    page.goto((pages / f"{name}.html").as_uri())
    words = " ".join(page.evaluate(FIRST_SCREEN).split()).partition("What was protected")[0]
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}-{screen}.png")
        page.screenshot(path=f"{PICTURES}/{name}-{screen}-whole.png", full_page=True)
    found = REPORTS[name][1]
    for sentence in found if screen != "phone" else found[:1]:
        assert sentence in words
    assert not JARGON.search(words), JARGON.search(words)
    assert "hidden by noise" not in words
    assert not re.search(r"\d[eE][+-]?\d|−\d|\bnan\b", words)
    assert words.count("ε") <= 1  # the guarantee, in one line
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
    assert page.evaluate(CUT) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(BEYOND) == [], "a table has columns that only scrolling shows"
    assert page.locator("details[open]").count() == 0
    page.evaluate("document.querySelectorAll('details').forEach((it) => it.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
    violations = Axe().run(page, options={"resultTypes": ["violations"]})["violations"]
    assert not violations, [(it["id"], it["nodes"][0]["html"]) for it in violations]
    context.close()


def test_dates_are_dates_and_missing_values_have_their_rule_beside_the_centre(pages):
    page = (pages / "hospital.html").read_text("utf-8")
    assert re.search(r"date of birth later <span>\((19|20)\d\d-\d\d(-\d\d)?, on average", page)
    rule, number = "counted as 1.1 mg/dl", r"\([\d,]+ ± \d+\)"
    assert re.search(rf"creatinine<small>missing values {rule} {number}</small>", page)
    assert re.search(rf"Missing values of creatinine {number} were {rule}\.", page)
    assert (
        "Missing values of ward were counted as a category, and their share is in the table" in page
    )
    assert "First after admission." in page
    assert re.search(r'died in hospital</th><td class="v"[^>]*>\d+ (to \d+ )?%', page)
    numbers = re.sub(r"<style.*?</style>|<svg.*?</svg>|<code>.*?</code>", "", page, flags=re.DOTALL)
    assert not re.search(r"−?\d[\d,.]*e[+-]?\d|−\d\d,\d{3}", numbers)


def test_a_release_of_noise_draws_nothing_and_gives_readers_no_advice(pages):
    page = (pages / "noise.html").read_text("utf-8")
    assert "<svg" not in page
    assert "What was found" not in page
    assert not re.search(r"raise|plan\(|allow a delta|larger budget", page)
