"""Signing in through an OpenID provider, an option that can be left off (extra ``oidc``).

The provider says who somebody is, and the service still says what they may do: only those who have
an account here get in. Code flow with state, nonce and PKCE; the identity token is verified with
the provider's keys, for this service and this one attempt.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from privclust.exceptions import install_hint
from privclust.service.errors import ForbiddenError, ServiceError
from privclust.service.remote import is_safe
from privclust.service.settings import Settings

_ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"]
_SECONDS = 10
_REFUSED = "The provider did not confirm who you are; sign in again, or use your password."
_AWAY = "The provider cannot be reached at the moment; try again, or use your password."
_NO_GROUP = "None of your groups has access to this service; ask the steward which one has."


@dataclass(frozen=True)
class Attempt:
    """What one browser keeps while it is away at the provider: random values, in a cookie."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Attempt:
        """Return a new attempt."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @classmethod
    def from_cookie(cls, text: str) -> Attempt:
        """Return the attempt in a cookie, or refuse anything else."""
        parts = text.split(".")
        if len(parts) != 3 or not all(parts):
            raise ForbiddenError(_REFUSED)
        return cls(*parts)

    @property
    def cookie(self) -> str:
        """The attempt as the value of a cookie."""
        return ".".join(asdict(self).values())


class Provider:
    """The provider that the operator chose.

    ``settings``: with issuer, client id, client secret, and the claim that serves as the name of a
    user.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._back = f"{settings.url.rstrip('/')}/sign-in/provider/back"
        try:  # found out now, not when somebody signs in
            from authlib.integrations.requests_client import OAuth2Session
        except ModuleNotFoundError:
            raise ServiceError(
                "Signing in through a provider needs more packages; "
                f"{install_hint('oidc')}, or leave oidc_issuer out."
            ) from None
        self._client_of = OAuth2Session

    def authorization_url(self, attempt: Attempt) -> str:
        """Return the address at the provider that a browser is sent to."""
        way, _ = self._client().create_authorization_url(
            self._place("authorization_endpoint"),
            state=attempt.state,
            nonce=attempt.nonce,
            code_verifier=attempt.verifier,
        )
        return str(way)

    def vouched_name(self, attempt: Attempt, code: str, state: str) -> tuple[str, str | None]:
        """Return the name that the provider vouches for, or refuse in one sentence.

        With it comes the role that the provider's groups give; None if stewards give roles.
        """
        if not code or not secrets.compare_digest(state.encode(), attempt.state.encode()):
            raise ForbiddenError(_REFUSED)
        try:
            token = self._client().fetch_token(
                self._place("token_endpoint"),
                code=code,
                code_verifier=attempt.verifier,
                grant_type="authorization_code",
                timeout=_SECONDS,
            )
            claims = self._verify(str(token["id_token"]), attempt)
        except ServiceError:
            raise
        except Exception:  # whatever the provider sends, it is not a proof
            raise ForbiddenError(_REFUSED) from None
        return self._name(claims), self._role(claims)

    def _role(self, claims: Any) -> str | None:
        if not self._settings.oidc_role_claim:
            return None
        given = claims.get(self._settings.oidc_role_claim)
        groups = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        for group, role in self._settings.roles_by_group.items():
            if group in groups:
                return role
        raise ForbiddenError(_NO_GROUP)

    def _name(self, claims: Any) -> str:
        claim = self._settings.oidc_claim
        name = claims.get(claim)
        unproved = claim == "email" and claims.get("email_verified") is not True
        if not isinstance(name, str) or not name or unproved:
            raise ForbiddenError(_REFUSED)
        return name

    def _verify(self, text: str, attempt: Attempt) -> Any:
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.jwk import KeySet

        keys = KeySet.import_key_set(self._fetch(self._place("jwks_uri")))
        decoded = jwt.decode(text, keys, algorithms=_ALGORITHMS)
        options = {
            "iss": {"essential": True, "value": self._settings.oidc_issuer},
            "aud": {"essential": True, "value": self._settings.oidc_client_id},
            "nonce": {"essential": True, "value": attempt.nonce},
        }
        about = {"nonce": attempt.nonce, "client_id": self._settings.oidc_client_id}
        claims = CodeIDToken(decoded.claims, decoded.header, options, about)
        claims.validate(leeway=60)
        return claims

    def _client(self) -> Any:
        return self._client_of(
            self._settings.oidc_client_id,
            self._settings.oidc_client_secret,
            scope="openid email profile",
            redirect_uri=self._back,
            code_challenge_method="S256",
        )

    def _place(self, name: str) -> str:
        place = str(self._found.get(name, ""))
        if not is_safe(place):
            raise ServiceError(_AWAY)
        return place

    @cached_property
    def _found(self) -> dict[str, Any]:
        """What the provider says about itself; asked once it answers."""
        issuer = self._settings.oidc_issuer.rstrip("/")
        found: dict[str, Any] = self._fetch(f"{issuer}/.well-known/openid-configuration")
        if found.get("issuer") != self._settings.oidc_issuer:
            raise ServiceError(_AWAY)
        return found

    def _fetch(self, place: str) -> Any:
        import requests

        try:
            answer = requests.get(place, timeout=_SECONDS, allow_redirects=False)
            answer.raise_for_status()
            return json.loads(answer.content)
        except (requests.RequestException, ValueError):
            raise ServiceError(_AWAY) from None
