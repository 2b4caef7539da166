"""Every page of the built site opens in a real browser: no error, no request to another host.

``make docs`` builds the site and runs this; without a built site it is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from support import needed

SITE = Path(__file__).parents[2] / "build" / "site"
# The entrance leads on to the first page by itself, so it is opened apart from the others.
ENTRANCE = SITE / "index.html"
PAGES = sorted(
    page for page in SITE.rglob("*.html") if "_static" not in page.parts and page != ENTRANCE
)


@pytest.fixture(scope="module")
def browser():
    program = needed.browser()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.skipif(not PAGES, reason="the site is not built; run `make docs`")
def test_every_page_opens_from_disk_without_an_error_or_a_request_elsewhere(browser):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url),
    )
    for place in PAGES:
        page.goto(place.as_uri())
        assert wrong == [], place.relative_to(SITE)


@pytest.mark.skipif(not PAGES, reason="the site is not built; run `make docs`")
def test_the_entrance_leads_to_the_first_page(browser):
    page = browser.new_page()
    page.goto(ENTRANCE.as_uri(), wait_until="commit")
    page.wait_for_url("**/docs/index.html")
    assert page.title().startswith("privclust")
    page.close()


@pytest.mark.skipif(not PAGES, reason="the site is not built; run `make docs`")
@pytest.mark.parametrize("word", ["excel", "labels_"])
def test_the_search_shows_excerpts_from_disk(browser, word):
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q={word}")
    page.wait_for_selector("#search-results p.context")
    texts = page.locator("#search-results p.context").all_inner_texts()
    assert any(word in text.lower() for text in texts)
    page.close()


@pytest.mark.skipif(not PAGES, reason="the site is not built; run `make docs`")
@pytest.mark.parametrize("width", [1400, 390])
def test_code_is_whole_and_can_be_copied(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    for name in ("docs/index", "docs/kmeans", "docs/schema", "docs/tutorials/hospital"):
        page.goto((SITE / f"{name}.html").as_uri())
        blocks = page.locator(".bd-article div.highlight pre")
        assert blocks.count()
        cut = "blocks => blocks.filter(it => it.scrollWidth > it.clientWidth + 1).length"
        assert blocks.evaluate_all(cut) == 0, name
        page.wait_for_selector("button.copybtn", state="attached")
        assert page.locator("button.copybtn").count() == blocks.count(), name
    page.close()


@pytest.mark.skipif(not PAGES, reason="the site is not built; run `make docs`")
def test_the_main_pages_have_no_serious_barrier(browser):
    axe = Axe()
    for name in ("docs/index", "docs/start/five-minutes", "docs/reference/python", "docs/kmeans"):
        page = browser.new_page()
        page.goto((SITE / f"{name}.html").as_uri())
        serious = [
            (rule["id"], rule["nodes"][0]["html"][:200])
            for rule in axe.run(page)["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], name
        page.close()
