"""The analyst's side: a data set on a service, asked with the estimators' own interface.

Nothing but the standard library is needed, and no row ever leaves the service.
"""

from __future__ import annotations

import inspect
import json
import secrets
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from privclust.budget import Budget
from privclust.exceptions import PrivclustError
from privclust.release.release import Release

_BUDGET = {"epsilon", "delta", "budget"}
_LARGEST_ANSWER = 2**28


class RemoteError(PrivclustError):
    """The service refused, or did not answer; its sentence says why."""


def is_safe(address: str) -> bool:
    """Return whether what is sent to an address is encrypted, or stays on this machine."""
    parts = urlsplit(address)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    return parts.scheme == "https" or (parts.scheme == "http" and local)


class NoRedirect(HTTPRedirectHandler):
    """A token is sent to the address that was given, and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class RemoteService:
    """A service and a token for it.

    ``url``: the address of the service, such as ``https://clusters.example.org``. ``token``: one of
    your tokens; see the page "Tokens" of the service.
    """

    def __init__(self, url: str, token: str) -> None:
        if not is_safe(url):
            raise RemoteError("A token is sent over https only; give an address with https://.")
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self._open = build_opener(NoRedirect()).open

    def __repr__(self) -> str:
        return f"RemoteService({self._origin!r}, ...)"

    def get(self, path: str) -> Any:
        """Return the answer to a question, as plain data."""
        return json.loads(self.send("GET", path))

    def post(self, path: str, document: dict[str, Any]) -> Any:
        """Return the answer to a document, as plain data."""
        return json.loads(self.send("POST", path, document))

    def send(self, method: str, path: str, document: dict[str, Any] | None = None) -> bytes:
        """Return the answer as it is; raise with the service's sentence if it refuses."""
        body = None if document is None else json.dumps(document).encode()
        request = Request(  # noqa: S310  # https, or this machine: see __init__
            f"{self._origin}/api/v1{path}",
            data=body,
            method=method,
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
        )
        try:
            with self._open(request, timeout=120) as answer:
                return bytes(answer.read(_LARGEST_ANSWER))
        except HTTPError as error:
            raise RemoteError(_sentence(error)) from None
        except (URLError, TimeoutError, ConnectionError, HTTPException):
            raise RemoteError(
                f"The service at {self._origin} does not answer; try again later."
            ) from None


class RemoteDataset:
    """A data set on a service.

    Parameters
    ----------
    url : str
        The address of its page, ``https://…/datasets/…``.
    token : str
        One of your tokens, with the scope "run".

    Examples
    --------
    >>> data = RemoteDataset("https://clusters.example.org/datasets/1f", token)  # doctest: +SKIP
    >>> release = data.fit(PrivateKMeans(8, epsilon=1.0))                        # doctest: +SKIP
    """

    def __init__(self, url: str, token: str) -> None:
        self._service = RemoteService(url, token)
        path = urlsplit(url).path.rstrip("/").removeprefix("/api/v1")
        if not path.startswith("/datasets/") or path.count("/") != 2:
            raise RemoteError("Give the address of a data set, https://…/datasets/….")
        self._path = path

    def about(self) -> dict[str, Any]:
        """Return what is public about the data set, and what is left of your budget."""
        answer: dict[str, Any] = self._service.get(self._path)
        return answer

    def plan(
        self, model: Any, columns: Sequence[str] | None = None, *, target: Any = None, **public: Any
    ) -> dict[str, Any]:
        """Return what a fit would ask, cost and achieve; nothing is spent."""
        asked = question_of(model, columns, target, **public)
        answer: dict[str, Any] = self._service.post(f"{self._path}/plan", asked)
        return answer

    def ask(
        self, model: Any, columns: Sequence[str] | None = None, *, target: Any = None, **public: Any
    ) -> str:
        """Charge a fit and queue it; return the id of its job."""
        asked = question_of(model, columns, target, **public)
        asked |= {"request": secrets.token_hex(16)}
        return str(self._service.post(f"{self._path}/jobs", asked)["id"])

    def fit(
        self,
        model: Any,
        columns: Sequence[str] | None = None,
        *,
        target: Any = None,
        wait: Callable[[float], object] | None = None,
        **public: Any,
    ) -> Release:
        """Ask, wait for the answer, and return the release.

        Parameters
        ----------
        model : private estimator
            With its budget, clusters and options; bounds and unit are those of the data set.
        columns : sequence of str or None
            The columns to ask about; all that the family takes if not given.
        target : array-like of shape (n_targets, n_columns) or None
            Public points among which new centres are chosen, for the family that takes them; their
            columns are those asked about, in the order of the data set's schema.
        wait : callable or None
            Waits for a number of seconds; ``time.sleep`` if not given.
        **public
            What else the estimator's own ``fit`` takes that is public: ``candidates``,
            ``sample_weight``, ``forbidden`` and ``forced``.
        """
        return self.release(self.ask(model, columns, target=target, **public), wait=wait)

    def release(self, job_id: str, *, wait: Callable[[float], object] | None = None) -> Release:
        """Wait for a job and return its release."""
        from privclust.service.releases import release_from

        job = self._service.get(f"/jobs/{job_id}")
        while job["state"] == "waiting":
            (wait or time.sleep)(max(1.0, job["next_look"] - time.time()))
            job = self._service.get(f"/jobs/{job_id}")
        if job["state"] != "done":
            raise RemoteError(job["message"])
        return release_from(self._service.send("GET", f"/releases/{job['release']}/file"))


def question_of(
    model: Any, columns: Sequence[str] | None = None, target: Any = None, **public: Any
) -> dict[str, Any]:
    """Return the question that a model asks, as plain data; refuse what cannot be asked."""
    from privclust.service.offers import OFFERS

    kind, given = type(model).__name__, model.get_params(deep=False)
    offers = {
        variant.estimator.partition(":")[2]: (offer, variant)
        for offer in OFFERS.values()
        for variant in offer.task.variants
        if variant.in_service
    }
    if kind not in offers:
        raise RemoteError(f"The service offers {', '.join(offers)}, not {kind}.")
    (offer, variant), defaults = offers[kind], inspect.signature(type(model)).parameters
    names = [option.name for option in offer.options]
    changed = {name: it for name, it in given.items() if it != defaults[name].default} | public
    if variant.paper:
        changed["method"] = given.get("method", variant.methods[0])
    for name in changed:
        if name not in {*_BUDGET, *names, offer.task.clusters}:
            raise RemoteError(
                f"{name} cannot be asked for: bounds, unit and noise are the service's; "
                "leave it out."
            )
    budget = given["budget"] or Budget(given["epsilon"], given["delta"])
    options = {name: _plain(changed[name]) for name in names if name in changed}
    return {
        "family": offer.name,
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        **({"clusters": _plain(given[offer.task.clusters])} if offer.task.clusters else {}),
        **({} if columns is None else {"columns": list(columns)}),
        **({"options": options} if options else {}),
        **({} if target is None else {"targets": _points(target)}),
    }


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold, even for NumPy's numbers and arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def _points(target: Any) -> list[list[float]]:
    import numpy as np

    points: list[list[float]] = np.asarray(target, dtype=float).tolist()
    return points


def _sentence(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read(10_000))["message"])
    except (ValueError, KeyError, TypeError):
        return f"The service refused the request ({error.code}); check address and token."
