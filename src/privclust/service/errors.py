"""What the service refuses, each with the status of its answer and one sentence for its reader."""

from __future__ import annotations

from privclust.exceptions import PrivclustError

NOT_HERE = "There is nothing here that you may see; check the address, or ask the steward."


class ServiceError(PrivclustError):
    """A request that is refused; the sentence may be shown to the user."""

    status = 400

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status or self.status


class ForbiddenError(ServiceError):
    """The user is not allowed to do this."""

    status = 403


class NotFoundError(ServiceError):
    """Nothing of that name, or nothing that the reader may know about: the answer is the same."""

    status = 404

    def __init__(self, sentence: str = NOT_HERE) -> None:
        super().__init__(sentence)


class ConflictError(ServiceError):
    """The request does not fit what is already there."""

    status = 409


class TooManyError(ServiceError):
    """Too many requests; a later one may be served."""

    status = 429
