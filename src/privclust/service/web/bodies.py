"""What programs send: the bodies of their requests, each with its fields and nothing else."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt

from privclust.service.declared import Declared
from privclust.service.questions import FIELDS, FitQuestion

_Value = str | int | float | bool
_Number = str | StrictInt | StrictFloat  # and not true, which would be read as 1


class Asked(BaseModel):
    """A question. Bounds and unit are those of the data set, and there is no seed."""

    model_config = ConfigDict(extra="forbid")
    family: str | None = Field(None, max_length=40)
    epsilon: _Number = "1"
    delta: _Number = "0"
    clusters: int | str | None = None
    columns: list[str] | None = Field(None, max_length=10_000)
    options: dict[str, _Value | list[_Value] | list[list[float]] | None] = Field(
        {}, max_length=40, description="Parameters of the estimator and its fit, by their names."
    )
    targets: list[list[float]] | None = Field(
        None, max_length=5000, description="Public points, for the family source-target."
    )

    def question(self, declared: Declared) -> FitQuestion:
        """Return the question, checked."""
        return FitQuestion.parsed({name: getattr(self, name) for name in FIELDS}, declared)


class Requested(Asked):
    """A question to be charged and run."""

    request: str | None = Field(None, description="32 hexadecimal digits; repeat them to be safe.")


class Registration(BaseModel):
    """A data set to be registered."""

    model_config = ConfigDict(extra="forbid")
    name: str
    path: str
    facts: dict[str, Any] = Field(alias="schema")
    unit: str | dict[str, Any] = "add-remove-row"
    most_rows: int
    note: str = ""


class Grant(BaseModel):
    """Budget for an analyst."""

    model_config = ConfigDict(extra="forbid")
    user: str
    epsilon: _Number
    delta: _Number = "0"
    note: str = ""
    request: str | None = Field(None, max_length=100, description="Names this one grant.")


class NewUser(BaseModel):
    """An account to be made."""

    model_config = ConfigDict(extra="forbid")
    name: str
    role: str = "analyst"
