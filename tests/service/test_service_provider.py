"""Signing in through an OpenID provider: a small one on this machine, and what it may not do."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from privclust.service.errors import ServiceError
from privclust.service.settings import Settings
from service.browser import Browser, message, services_on
from service.serving import Serving

KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": "one"}) for _ in range(2))


@dataclass
class FakeProvider:
    """What a provider answers; tests change its claims."""

    server: ThreadingHTTPServer
    claims: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: KEY)
    token: str = ""  # instead of one with these claims, signed with the key
    posted: dict[str, list[str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "auth", "token_endpoint": "token"}
            places["jwks_uri"] = "keys"
            known = {"issuer": self.url} | {it: f"{self.url}/{at}" for it, at in places.items()}
            # A provider may list ways to sign that prove nothing; they are not for us.
            return known | {"id_token_signing_alg_values_supported": ["none", "HS256", "RS256"]}
        if path == "/keys":
            return {"keys": [KEY.as_dict(private=False)]}
        token = self.token or jwt.encode({"alg": "RS256", "kid": "one"}, self.claims, self.key)
        return {"access_token": "x", "token_type": "Bearer", "id_token": token}


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(fake.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            given = self.rfile.read(int(self.headers["Content-Length"])).decode()
            fake.posted = parse_qs(given)
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake = FakeProvider(server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Visit:
    """A browser on its way to the provider and back."""

    browser: Browser
    asked: dict[str, str]

    def back(self, **changes: str) -> Any:
        given = {"code": "abc", "state": self.asked["state"]} | changes
        return self.browser.client.get("/sign-in/provider/back", params=given)


GROUPS = {
    "oidc_role_claim": "groups",
    "oidc_stewards": "data-stewards",
    "oidc_analysts": "data-analysts",
    "passwords": False,
}


def begun(
    serving: Serving, provider: FakeProvider, more: dict[str, Any] | None = None, **claims: Any
) -> Visit:
    """Send a browser to the provider, which will vouch for ann unless told otherwise."""
    known = {"oidc_issuer": provider.url, "oidc_client_id": "clusters", **(more or {})}
    browser = Browser(services_on(serving, **known, oidc_client_secret="s"))  # noqa: S106
    assert "through your organisation" in browser.get("/sign-in").text
    sent = browser.get("/sign-in/provider")
    assert sent.status_code == 303
    asked = {
        it: values[0] for it, values in parse_qs(urlsplit(sent.headers["location"]).query).items()
    }
    provider.claims = {
        "iss": provider.url,
        "aud": "clusters",
        "sub": "17",
        "iat": int(time.time()),
        "exp": int(time.time()) + 300,
        "nonce": asked["nonce"],
        "email": "ann",
        "email_verified": True,
    } | claims
    return Visit(browser, asked)


def test_whoever_the_provider_vouches_for_and_has_an_account_gets_in(
    serving: Serving, provider: FakeProvider
) -> None:
    serving.accounts.reset(serving.ann)  # a one-time password that nobody needs now
    visit = begun(serving, provider)
    assert visit.asked["code_challenge_method"] == "S256"
    assert visit.asked["redirect_uri"].endswith("/sign-in/provider/back")
    answer = visit.back()
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "visits" in visit.browser.get("/").text
    assert provider.posted["code_verifier"]


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-service"},
        {"iss": "https://elsewhere.example.org"},
        {"nonce": "of another attempt"},
        {"exp": 1_000_000_000},
        {"email_verified": False},
        {"email": ""},
        {"email": "nobody"},
        *({"email_verified": word} for word in (None, "true", "false", 1, [True])),
    ],
    ids=lambda claims: next(iter(claims)) + str(next(iter(claims.values())))[:8],
)
def test_a_token_that_proves_nothing_lets_nobody_in(
    serving: Serving, provider: FakeProvider, claims: dict[str, Any]
) -> None:
    visit = begun(serving, provider, **claims)
    answer = visit.back()
    assert answer.status_code == 403
    assert message(answer)
    assert visit.browser.get("/").status_code == 303  # to the page to sign in


def test_an_address_that_the_provider_says_nothing_about_lets_nobody_in(
    serving: Serving, provider: FakeProvider
) -> None:
    visit = begun(serving, provider)
    del provider.claims["email_verified"]
    assert visit.back().status_code == 403


def test_a_token_of_another_key_or_another_attempt_lets_nobody_in(
    serving: Serving, provider: FakeProvider
) -> None:
    visit = begun(serving, provider)
    assert visit.back(state="x").status_code == 403
    assert visit.back(code="").status_code == 403
    provider.key = OTHER_KEY
    assert visit.back().status_code == 403
    provider.key = KEY
    visit.browser.client.cookies.clear()  # a link that somebody else was sent
    assert visit.back().status_code == 403


def test_a_token_that_nobody_signed_lets_nobody_in(
    serving: Serving, provider: FakeProvider
) -> None:
    visit = begun(serving, provider)
    parts = (json.dumps(it).encode() for it in ({"alg": "none", "kid": "one"}, provider.claims))
    provider.token = ".".join(urlsafe_b64encode(it).decode().rstrip("=") for it in parts) + "."
    assert visit.back().status_code == 403


@pytest.mark.parametrize("attempt", ["", "x", "e30=", "bnVsbA==", "W10=", "eyJhIjogMX0="])
def test_a_cookie_that_is_no_attempt_lets_nobody_in(
    serving: Serving, provider: FakeProvider, attempt: str
) -> None:
    visit = begun(serving, provider)
    visit.browser.client.cookies.clear()
    visit.browser.client.cookies.set("provider", attempt)
    assert visit.back().status_code == 403


def test_a_closed_account_stays_closed(serving: Serving, provider: FakeProvider) -> None:
    serving.accounts.set_active(serving.ann, active=False)
    assert begun(serving, provider).back().status_code == 403


def test_without_a_provider_there_is_no_such_page(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    assert "organisation" not in browser.get("/sign-in").text
    assert browser.get("/sign-in/provider").status_code == 404
    assert browser.get("/sign-in/provider/back").status_code in (403, 404)


@pytest.mark.parametrize(
    "given", [{"oidc_issuer": "http://id.example.org"}, {"oidc_issuer": "https://id.example.org"}]
)
def test_half_a_provider_is_refused_at_the_start(given: dict[str, str]) -> None:
    with pytest.raises(ServiceError, match="oidc"):
        Settings(**given)
    assert "secret" not in repr(Settings(oidc_client_secret="secret"))  # noqa: S106


def test_groups_make_accounts_and_give_roles(any_serving: Serving, provider: FakeProvider) -> None:
    serving = any_serving
    visit = begun(serving, provider, GROUPS, email="zoe", groups=["x", "data-analysts"])
    assert visit.back().headers["location"] == "/"
    assert serving.accounts.by_name("zoe").role == "analyst"
    token = serving.accounts.add_token(serving.accounts.by_name("zoe"), "program", "run", 1)
    groups = ["data-analysts", "data-stewards"]
    assert begun(serving, provider, GROUPS, email="zoe", groups=groups).back().status_code == 303
    assert serving.accounts.by_name("zoe").role == "steward"
    assert serving.accounts.holder_of(token) is None  # it was an analyst's
    assert visit.browser.get("/").headers["location"] == "/sign-in"


@pytest.mark.parametrize("groups", [None, [], ["others"], "data", {"data-stewards": True}, [["x"]]])
def test_without_a_group_nobody_gets_in(
    serving: Serving, provider: FakeProvider, groups: Any
) -> None:
    for name in ("zoe", "ann"):
        answer = begun(serving, provider, GROUPS, email=name, groups=groups).back()
        assert (answer.status_code, "groups" in message(answer)) == (403, True)
    assert "zoe" not in [user.name for user, _ in serving.accounts.all()]


def test_a_deleted_account_is_not_made_again_by_a_group(
    serving: Serving, provider: FakeProvider
) -> None:
    serving.accounts.delete(serving.ann, serving.steward)
    answer = begun(serving, provider, GROUPS, email="ann", groups=["data-stewards"]).back()
    assert answer.status_code == 403


def test_passwords_can_be_switched_off(serving: Serving, provider: FakeProvider) -> None:
    browser = begun(serving, provider, GROUPS).browser
    assert "password" not in browser.get("/sign-in").text.lower()
    assert browser.sign_in("ann").status_code == 404
    assert browser.get("/password").status_code in (303, 404)
