"""Signing in through an OpenID provider, an option that can be left off (extra ``oidc``).

The provider says who somebody is, and the service still says what they may do: only those who have
an account here, or belong to a group that has access, get in. Authlib runs the code flow with
state, nonce and PKCE; the identity token is verified for this service and this one attempt.
"""

from __future__ import annotations

import json
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from privclust.exceptions import install_hint
from privclust.service.errors import ForbiddenError, ServiceError
from privclust.service.remote import is_safe
from privclust.service.settings import Settings

_ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"]  # those of public keys alone
_PLACES = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_REFUSED = "The provider did not confirm who you are; sign in again, or use your password."
_AWAY = "The provider cannot be reached at the moment; try again, or use your password."
_NO_GROUP = "None of your groups has access to this service; ask the steward which one has."


class Provider:
    """The provider that the operator chose.

    ``settings``: with issuer, client id, client secret, and the claim that serves as the name of a
    user.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._back = f"{settings.url.rstrip('/')}/sign-in/provider/back"
        try:  # found out now, not when somebody signs in
            import authlib.deprecate  # noqa: F401  # which lets all its warnings through

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # newer versions would rather have another client
                from authlib.integrations.starlette_client import OAuth
        except ModuleNotFoundError:
            raise ServiceError(
                "Signing in through a provider needs more packages; "
                f"{install_hint('oidc')}, or leave oidc_issuer out."
            ) from None
        self._client: Any = OAuth().register(
            "provider",
            client_id=settings.oidc_client_id,
            client_secret=settings.oidc_client_secret,
            server_metadata_url=(
                f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration"
            ),
            client_kwargs={
                "scope": "openid email profile",
                "code_challenge_method": "S256",
                "timeout": 10,
            },
        )

    async def send_there(self, request: Request) -> tuple[Response, str]:
        """Return the way to the provider, and the attempt that the browser keeps in a cookie."""
        await self._meet()
        attempt = request.scope["session"] = {}
        answer: Response = await self._client.authorize_redirect(request, self._back)
        answer.status_code = 303
        return answer, urlsafe_b64encode(json.dumps(attempt).encode()).decode()

    async def vouched_name(self, request: Request, attempt: str) -> tuple[str, str | None]:
        """Return the name that the provider vouches for, or refuse in one sentence.

        With it comes the role that the provider's groups give; None if stewards give roles.
        """
        await self._meet()
        try:
            request.scope["session"] = dict(json.loads(urlsafe_b64decode(attempt)))
            if not request.query_params["code"]:
                raise ForbiddenError(_REFUSED)
            token = await self._client.authorize_access_token(request, leeway=60)
            claims = token["userinfo"]
        except Exception:  # whatever the provider or the browser sends, it is not a proof
            raise ForbiddenError(_REFUSED) from None
        return self._name(claims), self._role(claims)

    async def _meet(self) -> None:
        """Find out where the provider is and what it signs with; once, as soon as it answers."""
        try:
            found = await self._client.load_server_metadata()
        except Exception:
            raise ServiceError(_AWAY) from None
        known = found.get("issuer") == self._settings.oidc_issuer
        if not known or not all(is_safe(str(found.get(name, ""))) for name in _PLACES):
            self._client.server_metadata.clear()
            raise ServiceError(_AWAY)
        found["id_token_signing_alg_values_supported"] = _ALGORITHMS

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
