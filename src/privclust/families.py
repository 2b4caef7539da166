"""The one list of the families of algorithms; text alone, so that reading it imports nothing.

A family is a kind of release with a command; its folder of the package may have several. In the
folder the others look for the modules ``release`` (its kinds of release), and ``audited`` (what an
audit runs) and ``command`` (its commands, which only the command line imports), whose names begin
with that of the kind if there are several.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One family of algorithms.

    Attributes
    ----------
    name : str
        Its kind of release.
    command : str
        Its command on the command line, and its name as the subject of an audit.
    folder : str
        Where it lives in the package.
    prefix : str
        What the names of its modules begin with, where a folder has several families.
    """

    name: str
    command: str
    folder: str
    prefix: str = ""

    @property
    def release_module(self) -> str:
        """The module that registers its kind of release."""
        return f"privclust.{self.folder}.release"

    @property
    def command_module(self) -> str:
        """The module with its commands ``fit`` and ``plan``, and ``more`` by name if it has more.

        Nothing heavy is imported by it.
        """
        return f"privclust.{self.folder}.{self.prefix}command"

    @property
    def audit_module(self) -> str:
        """The module whose ``subject(epsilon, delta)`` returns a fit and pairs of neighbours."""
        return f"privclust.{self.folder}.{self.prefix}audited"


FAMILIES = (
    Family("kmeans", "kmeans", "kmeans"),
    Family("coclustering", "cocluster", "coclustering"),
    Family("categorical", "categorical", "categorical"),
    Family("source_target", "source-target", "source_target"),
    Family("bounds", "bounds", "bounds"),
    Family("summary", "summarise", "summary"),
)
