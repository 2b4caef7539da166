"""A real browser goes the whole way: desktop and phone, light and dark, checked by axe on the way.

On the desktop it asks a table for clusters and for new centres, on the phone a matrix.
With ``PRIVCLUST_SCREENSHOTS=folder`` it leaves pictures of the pages there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from scipy import sparse

from privclust.service.declared import Counts
from service.running import Running
from service.serving import PASSWORD, SCHEMA, write_rows
from support import needed

COUNTS = Counts(30, 12, 6)
# What is registered and asked on each of the screens that go the whole way.
FILES = {"desktop-light": "desktop-light.csv", "phone-dark": "phone-dark.npz"}
FAMILIES = {"desktop-light": "Clusters (k-means)", "phone-dark": "Clusters of rows and columns"}
PICTURES = os.environ.get("PRIVCLUST_SCREENSHOTS")
# Controls whose text does not fit into them.
CUT = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  const widest = (it) => {  // a list tells no width of its text
    pen.font = getComputedStyle(it).font;
    return Math.max(...[...it.options].map((one) => pen.measureText(one.text).width)) + 40;
  };
  return [...document.querySelectorAll("button, a, select, th, h1, h2, label, legend")]
    .filter((it) => it.offsetParent && getComputedStyle(it).display !== "inline"
      && !it.closest(".scroll")
      && (it.options ? widest(it) : it.scrollWidth - 2) > it.clientWidth)
    .map((it) => it.outerHTML.slice(0, 100));
}"""
TEMPLATES = {it.name.partition(".")[0] for it in files("privclust.service.templates").iterdir()}
# Nothing else that axe finds is looked at, so it need not be told.
VIOLATIONS = {"resultTypes": ["violations"]}
SCREENS = {
    "desktop-light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
    "desktop-dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone-light": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    program = needed.browser()
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("running")
    (folder / "data").mkdir()
    write_rows(folder / "data" / "desktop-light.csv", 400)
    counts = np.random.default_rng(0).poisson(0.5, COUNTS.shape)
    sparse.save_npz(folder / "data" / "phone-dark.npz", sparse.csr_array(counts))
    server = Running(folder, str(folder / "service.db")).start()
    yield server
    server.stop()


class Walker:
    """Somebody at a screen, who looks at each page with axe."""

    looked_at: ClassVar[set[str]] = set()

    def __init__(self, chromium: Any, server: Running, screen: str) -> None:
        self.screen, self.url = screen, server.url
        self.context = chromium.new_context(**SCREENS[screen], base_url=server.url)
        self.context.set_default_timeout(120_000)  # a busy machine is slow, and only that
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)

    def _console(self, message: Any) -> None:
        # A refusal that the walk asks for is logged by the browser as a failed resource.
        if message.type == "error" and "status of 4" not in message.text:
            self.errors.append(message.text)

    def look(self, template: str, state: str = "") -> None:
        """Check the page for what hinders readers, and keep a picture of it."""
        name = f"{template}-{state}" if state else template
        self.looked_at.add(template)
        found = Axe().run(self.page, options=VIOLATIONS)["violations"]
        told = [(it["id"], it["nodes"][0]["html"]) for it in found]
        assert not found, (name, self.screen, told)
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 1, f"{name} scrolls sideways at {self.screen}"
        assert self.page.evaluate(CUT) == [], f"something is cut on {name} at {self.screen}"
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{PICTURES}/{name}-{self.screen}.png", full_page=True)

    def go(self, path: str) -> None:
        self.page.goto(path)

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            self.page.fill(f"[name={name}]", value)

    def open_menu(self) -> None:
        """Let all links be seen, which small screens hide."""
        menu = self.page.get_by_role("button", name="Menu")
        if menu.is_visible():
            menu.click()

    def sign_out(self) -> None:
        self.open_menu()
        self.press("Sign out")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        self.page.wait_for_load_state()

    def wait_for(self, selector: str, text: str = "") -> None:
        """Look now and then until it is there; the browser's own wait looks at every frame."""
        for _ in range(3000):
            if self.page.locator(selector, has_text=text).count():
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"There is no {selector} with {text!r} on {self.page.url}.")

    def wait_for_release(self) -> None:
        """Look again and again at a job until its release is there, and go to it."""
        self.wait_for("a", "See the release")  # the page looks again by itself
        self.page.get_by_role("link", name="See the release").click()

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        self.go("/sign-in")
        self.fill(name=name, password=password)
        self.press("Sign in")

    def first_sign_in(self, name: str, password: str) -> None:
        self.sign_in(name, password)
        self.fill(old=password, new=PASSWORD)
        self.look("password")
        self.press("Change the password")


def as_steward(walker: Walker, server: Running, name: str, dataset: str) -> str:
    """Register a data set, add an analyst, grant ε = 1.5, and return the one-time password."""
    if server.passwords:
        walker.first_sign_in("steward", server.passwords.pop("steward"))
    else:
        walker.sign_in("steward")
    register(walker, dataset)
    walker.go("/steward/users")
    walker.fill(name=name)
    walker.press("Add")
    password: str = walker.page.locator("[data-secret]").inner_text()
    walker.look("users")
    walker.go("/")
    walker.open_menu()
    walker.look("datasets", "steward")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.page.select_option("[name=user]", name)
    walker.fill(epsilon="1.5")
    walker.press("Grant")
    walker.look("confirm", "grant")
    walker.press("Grant")
    walker.look("dataset", "steward")
    walker.go("/steward/service")
    walker.look("service")
    look_at_audit(walker, dataset)
    walker.go("/")
    walker.sign_out()
    return password


def register(walker: Walker, dataset: str) -> None:
    """Go the three steps of registration, twice without registering."""
    walker.open_menu()
    walker.page.get_by_role("link", name="Register", exact=True).click()
    walker.look("register_kind")
    walker.go("/steward/register?kind=people")
    walker.look("register", "people")
    walker.page.get_by_role("link", name="another kind of data").click()
    matrix = FILES[walker.screen].endswith(".npz")
    kind = "A matrix of counts" if matrix else "A table, one row for each person"
    walker.page.get_by_role("link", name=kind).click()
    walker.look("register")
    schema = COUNTS.to_json() if matrix else SCHEMA.to_toml()
    walker.fill(name=dataset, path=FILES[walker.screen], schema=schema, most_rows="10")
    if not matrix:
        walker.fill(meanings="age: in years, at admission\ncost: in thousands of euros")
    walker.press("Check only")
    walker.wait_for("h1", "was not accepted")
    walker.look("check", "refused")
    walker.page.get_by_role("link", name="Back to the form").click()
    walker.fill(most_rows="1000")
    walker.press("Check only")
    walker.wait_for("h1", "could be registered")
    walker.look("check", "only")
    walker.page.get_by_role("link", name="Back to the form").click()
    walker.press("Check and register")
    walker.look("check", "running")
    walker.wait_for("h1", "is ready for questions")
    walker.look("check", "done")
    assert "NOT PRIVATE" in walker.page.content()


def look_at_audit(walker: Walker, dataset: str) -> None:
    """Read the statement of a data set and the trail of acts."""
    walker.go("/audit")
    walker.look("audit")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    assert "Privacy budget" in walker.page.content()
    walker.look("report", "statement")
    walker.page.get_by_role("link", name="Audit").first.click()
    walker.page.get_by_role("link", name="The trail of acts").click()
    walker.look("trail")


def spend_the_rest(walker: Walker, dataset: str) -> None:
    """Ask once more, with further options: for new centres, or for other clusters of the matrix."""
    walker.go("/")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    if "npz" in FILES[walker.screen]:
        walker.page.get_by_role("link", name=FAMILIES[walker.screen]).click()
        walker.page.get_by_text("More options").click()
        walker.fill(**{"option-n_column_clusters": "3"})
        walker.page.select_option("[name=option-rule]", "tau")
    else:
        walker.page.get_by_role("link", name="New centres for these").click()
        walker.page.get_by_text("More options").click()
        walker.fill(targets="10, 1\n20, 2\n60, 5\n90, 9", **{"lines-forbidden": "0"})
    walker.fill(clusters="2", epsilon="0.5")
    walker.press("Plan")
    walker.wait_for("#live", "Cost: ε = 0.5")
    assert walker.page.locator("details[open]").count()
    walker.look("ask", "more")
    walker.press("Run, and pay for it")
    walker.wait_for_release()


def go_the_whole_way(chromium: Any, running: Running, screen: str) -> None:
    walker, name, dataset = Walker(chromium, running, screen), f"a-{screen}", f"visits {screen}"
    walker.go("/sign-in")
    walker.look("sign_in")
    password = as_steward(walker, running, name, dataset)
    walker.first_sign_in(name, password)
    walker.look("datasets")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.look("dataset")
    walker.page.get_by_role("link", name=FAMILIES[screen]).click()
    walker.wait_for("#live", "Cost: ε = 1")
    walker.fill(epsilon="3", clusters="3")
    walker.wait_for("#live.refused")
    walker.fill(epsilon="1")
    walker.wait_for("#live", "Left after")
    walker.press("Dry run on synthetic rows")
    walker.look("report", "dry-run")
    walker.page.go_back()
    walker.fill(epsilon="1", clusters="3")
    walker.press("Compare budgets")
    walker.look("ask")
    walker.press("Run, and pay for it")
    walker.look("job")
    walker.wait_for_release()
    walker.look("release")
    walker.page.get_by_role("link", name="Read the report").click()
    assert "What was protected" in walker.page.content()
    walker.look("report")
    spend_the_rest(walker, dataset)
    walker.go("/releases")
    walker.look("releases")
    walker.go("/")
    walker.page.get_by_role("link", name=dataset, exact=True).click()
    walker.page.get_by_text("Ask the steward for more").click()
    walker.fill(epsilon="2", reason="a second wave of visits")
    walker.press("Send the request")
    walker.look("dataset", "spent")
    walker.page.get_by_role("link", name=FAMILIES[screen]).click()
    walker.fill(epsilon="0.75")
    walker.press("Run, and pay for it")
    assert "does not cover" in walker.page.locator("[data-message]").inner_text()
    walker.look("ask", "refused")
    walker.go("/tokens")
    walker.fill(name="laptop")
    walker.press("Create a token")
    walker.look("tokens")
    walker.go("/jobs")
    walker.look("jobs")
    assert walker.errors == []
    walker.context.close()


def read_on_another_screen(
    chromium: Any, running: Running, screen: str, family: str, last: str
) -> None:
    walker = Walker(chromium, running, screen)
    walker.sign_in("a-desktop-light")
    for path in ("/", "/jobs", "/releases", last):
        walker.go(path)
        walker.look({"/": "datasets"}.get(path, path.strip("/")), "other")
    walker.go("/")
    walker.page.get_by_role("link", name="visits desktop-light").click()
    walker.look("dataset", "other")
    walker.page.get_by_role("link", name=family).click()
    walker.page.get_by_text("More options").click()
    walker.page.get_by_text("The same from Python or the command line").click()
    walker.look("ask", "other")
    assert walker.errors == []
    walker.context.close()


def look_at_what_is_rare(walker: Walker) -> None:
    """See as a steward a job, a release, a frozen data set, maintenance, and a page of nothing."""
    walker.go("/jobs")
    walker.page.locator("td a").first.click()
    walker.look("job", "steward")
    walker.page.get_by_role("link", name="See the release").click()
    walker.look("release", "steward")
    walker.press("Delete this release")
    walker.look("confirm", "delete")
    walker.go("/")
    walker.page.get_by_role("link", name="visits phone-dark", exact=True).first.click()
    walker.look("dataset", "requests")
    walker.press("Freeze")
    walker.press("Freeze")
    walker.look("dataset", "frozen")
    walker.go("/steward/service")
    walker.fill(text="The data are being updated until 18:00.")
    walker.press("Begin maintenance")
    walker.look("service", "maintenance")
    walker.press("End maintenance")
    walker.go("/nowhere")
    walker.look("message")
    walker.go("/")


def audit(chromium: Any, running: Running) -> None:
    walker = Walker(chromium, running, "desktop-light")
    walker.sign_in("steward")
    walker.go("/steward/users")
    walker.fill(name="audra")
    walker.page.select_option("[name=role]", "auditor")
    walker.press("Add")
    password = walker.page.locator("[data-secret]").inner_text()
    walker.fill(name="audra")
    walker.press("Add")
    walker.look("users", "refused")
    walker.go("/")
    walker.look("datasets", "requests")
    look_at_what_is_rare(walker)
    walker.sign_out()
    walker.first_sign_in("audra", password)
    look_at_audit(walker, "visits desktop-light")
    assert walker.page.get_by_role("cell", name="asked for budget").count()
    assert walker.errors == []
    walker.context.close()


def test_steward_analyst_and_auditor_go_the_whole_way(chromium: Any, running: Running) -> None:
    """Each walk goes on where the one before has left the service, so they are one test."""
    for screen in ("desktop-light", "phone-dark"):
        go_the_whole_way(chromium, running, screen)
    for screen, family, last in (
        ("desktop-dark", "Distances between categories", "/api"),
        ("phone-light", "New centres for these", "/tokens"),
    ):
        read_on_another_screen(chromium, running, screen, family, last)
    audit(chromium, running)
    assert Walker.looked_at == TEMPLATES - {"base", "parts"}
