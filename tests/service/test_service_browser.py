"""A real browser goes the whole way: desktop and phone, light and dark, checked by axe on the way.

With ``PRIVCLUST_SCREENSHOTS=folder`` it leaves pictures of the pages there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.running import Running
from service.serving import PASSWORD, SCHEMA, write_rows

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
axe_module = pytest.importorskip("axe_core_python.sync_playwright", reason="axe is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
PICTURES = os.environ.get("PRIVCLUST_SCREENSHOTS")
# Nothing else that axe finds is looked at, so it need not be told.
VIOLATIONS = {"resultTypes": ["violations"]}
SCREENS = {
    "desktop-light": {"viewport": {"width": 1200, "height": 800}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
    "desktop-dark": {"viewport": {"width": 1200, "height": 800}, "color_scheme": "dark"},
    "phone-light": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine (install 'chromium')")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("running")
    (folder / "data").mkdir()
    write_rows(folder / "data" / "desktop-light.csv", 400)
    write_rows(folder / "data" / "phone-dark.csv", 401)
    server = Running(folder, str(folder / "service.db")).start()
    yield server
    server.stop()


class Walker:
    """Somebody at a screen, who looks at each page with axe."""

    def __init__(self, chromium: Any, server: Running, screen: str) -> None:
        self.screen, self.url = screen, server.url
        self.context = chromium.new_context(**SCREENS[screen], base_url=server.url)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.pictured: set[str] = set()

    def _console(self, message: Any) -> None:
        # A refusal that the walk asks for is logged by the browser as a failed resource.
        if message.type == "error" and "status of 4" not in message.text:
            self.errors.append(message.text)

    def look(self, name: str, axe: bool = True) -> None:
        """Check the page for what hinders readers, and keep a picture of it."""
        if axe:
            found = axe_module.Axe().run(self.page, options=VIOLATIONS)["violations"]
            grave = [it["id"] for it in found if it["impact"] in ("serious", "critical")]
            assert not grave, (name, self.screen, [it["nodes"][0]["html"] for it in found], grave)
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 1, f"{name} scrolls sideways at {self.screen}"
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{PICTURES}/{name}-{self.screen}.png", full_page=True)

    def go(self, path: str) -> None:
        self.page.goto(path)

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            self.page.fill(f"[name={name}]", value)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        self.page.wait_for_load_state()

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        self.go("/sign-in")
        self.fill(name=name, password=password)
        self.press("Sign in")

    def first_sign_in(self, name: str, password: str) -> None:
        self.sign_in(name, password)
        self.fill(old=password, new=PASSWORD)
        self.press("Change it")
        self.sign_in(name)


def as_steward(walker: Walker, server: Running, name: str, dataset: str) -> str:
    """Register a data set, add an analyst, grant ε = 1, and return the one-time password."""
    if server.passwords:
        walker.first_sign_in("steward", server.passwords.pop("steward"))
    else:
        walker.sign_in("steward")
    walker.page.get_by_role("link", name="Register", exact=True).click()
    walker.look("register")
    walker.fill(
        name=dataset, path=f"{walker.screen}.csv", schema=SCHEMA.to_toml(), most_rows="1000"
    )
    walker.press("Check and register")
    walker.look("checked")
    assert "NOT PRIVATE" in walker.page.content()
    walker.go("/steward/users")
    walker.fill(name=name)
    walker.press("Add")
    password: str = walker.page.locator("[data-secret]").inner_text()
    walker.look("users")
    walker.go("/")
    walker.look("datasets-steward")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.fill(user=name, epsilon="1")
    walker.press("Grant")
    walker.look("dataset-steward")
    walker.go("/audit")
    walker.look("audit")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    assert "Privacy budget" in walker.page.content()
    walker.go("/")
    walker.press("Sign out")
    return password


@pytest.mark.parametrize("screen", ["desktop-light", "phone-dark"])
def test_a_browser_goes_the_whole_way(chromium: Any, running: Running, screen: str) -> None:
    walker, name, dataset = Walker(chromium, running, screen), f"a-{screen}", f"visits {screen}"
    walker.go("/sign-in")
    walker.look("sign-in")
    password = as_steward(walker, running, name, dataset)
    walker.first_sign_in(name, password)
    walker.look("datasets")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.look("dataset")
    walker.page.get_by_role("link", name="Clusters (k-means)").click()
    walker.page.locator("#live", has_text="Cost: ε = 1").wait_for()
    walker.fill(epsilon="3", clusters="3")
    walker.page.wait_for_selector("#live.refused")
    walker.fill(epsilon="1")
    walker.page.locator("#live", has_text="Left after").wait_for()
    walker.press("Compare budgets")
    walker.look("ask")
    walker.press("Run, and pay for it")
    walker.look("job")
    for _ in range(120):
        if walker.page.get_by_role("link", name="See the release").count():
            break
        walker.page.wait_for_timeout(500)
        walker.page.reload()
    walker.page.get_by_role("link", name="See the release").click()
    walker.look("release")
    walker.page.get_by_role("link", name="Read the report").click()
    assert "What was protected" in walker.page.content()
    walker.look("report", axe=False)
    walker.go("/releases")
    walker.look("releases")
    walker.go("/")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.look("dataset-spent")
    walker.page.get_by_role("link", name="Clusters (k-means)").click()
    walker.fill(epsilon="0.5")
    walker.press("Run, and pay for it")
    assert "does not cover" in walker.page.locator("[data-message]").inner_text()
    walker.look("no-budget")
    walker.go("/tokens")
    walker.fill(name="laptop")
    walker.press("Make a token")
    walker.look("tokens")
    walker.go("/jobs")
    walker.look("jobs")
    assert walker.errors == []
    walker.context.close()


@pytest.mark.parametrize("screen", ["desktop-dark", "phone-light"])
def test_pages_can_be_read_on_other_screens(chromium: Any, running: Running, screen: str) -> None:
    walker = Walker(chromium, running, screen)
    walker.sign_in("a-desktop-light")
    for path in ("/", "/jobs", "/releases", "/tokens", "/api"):
        walker.go(path)
        walker.look(f"other{path.replace('/', '-')}")
    walker.go("/")
    walker.page.get_by_role("link", name="visits desktop-light").click()
    walker.look("other-dataset")
    walker.page.get_by_role("link", name="Clusters (k-means)").click()
    walker.look("other-ask")
    assert walker.errors == []
    walker.context.close()
