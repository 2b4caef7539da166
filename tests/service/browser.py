"""A browser without a screen: keeps cookies, sends the origin, fills in the token of each form."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from html import unescape
from typing import Any

from privclust.service.planner import Planner
from privclust.service.services import Services
from privclust.service.web.app import make_app
from service.serving import CHEAP, PASSWORD, Serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # newer versions would rather have another client
    from starlette.testclient import TestClient

ORIGIN = "http://127.0.0.1:8000"


def services_on(serving: Serving, **changes: Any) -> Services:
    """Return what the pages stand on, without processes; settings may be changed."""
    settings, planner = replace(serving.settings, **changes), Planner(own_process=False)
    return Services(settings, hasher=CHEAP, planner=planner, works=False)


class Browser:
    """Somebody at a browser."""

    def __init__(self, services: Services, address: str = "192.0.2.1") -> None:
        self.client = TestClient(
            make_app(services),
            base_url=ORIGIN,
            follow_redirects=False,
            raise_server_exceptions=False,
            client=(address, 1),
        )

    def get(self, path: str) -> Any:
        return self.client.get(path)

    def token(self, path: str) -> str:
        """Return the token of the forms on a page."""
        found = re.search(r'name="form" value="([^"]*)"', self.get(path).text)
        return unescape(found[1]) if found else ""

    def post(self, path: str, on: str = "/password", /, **fields: Any) -> Any:
        """Send a form that stands on a page."""
        data = {"form": self.token(on), **fields}
        headers = {"Origin": ORIGIN, "Referer": f"{ORIGIN}{on}"}
        return self.client.post(path, data=data, headers=headers)

    def confirm(self, path: str, on: str = "/password", /, **fields: Any) -> Any:
        """Send a form whose consequences were asked about, and agree to them."""
        return self.post(path, on, **fields, sure="yes")

    def follow(self, answer: Any) -> Any:
        """Return the page that an answer leads to."""
        return self.get(answer.headers["location"])

    def sign_in(self, name: str, password: str = PASSWORD) -> Any:
        return self.post("/sign-in", "/sign-in", name=name, password=password)


def signed_in(serving: Serving, name: str) -> Browser:
    """Return the browser of somebody who has signed in."""
    browser = Browser(services_on(serving))
    assert browser.sign_in(name).status_code == 303
    return browser


def message(answer: Any) -> str:
    """Return the one sentence of a page that refuses."""
    found = re.search(r"data-message>([^<]*)<", answer.text)
    return unescape(found[1]) if found else ""
