"""The one list of the families of algorithms; text alone, so that reading it imports nothing.

A family is a folder of the package and a line here. In the folder the others look for the modules
``release`` (its kind of release), ``audited`` (what an audit runs) and ``command`` (its commands,
which only the command line imports).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True)
class Family:
    """One family of algorithms.

    Attributes
    ----------
    name : str
        The folder in the package, and its kind of release.
    command : str
        Its command on the command line, and its name as the subject of an audit.
    """

    name: str
    command: str

    @property
    def release_module(self) -> str:
        """The module that registers its kind of release."""
        return f"privclust.{self.name}.release"

    @property
    def command_module(self) -> str:
        """The module with its commands ``fit`` and ``plan``, and ``more`` by name if it has more.

        Nothing heavy is imported by it.
        """
        return f"privclust.{self.name}.command"

    @property
    def audit_module(self) -> str:
        """The module whose ``subject(epsilon, delta)`` returns a fit and pairs of neighbours."""
        return f"privclust.{self.name}.audited"


FAMILIES = (
    Family("kmeans", "kmeans"),
    Family("coclustering", "cocluster"),
    Family("categorical", "categorical"),
    Family("source_target", "source-target"),
    Family("bounds", "bounds"),
    Family("summary", "summarise"),
)
