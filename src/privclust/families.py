"""The one list of the families of algorithms: text only, so that reading it imports nothing.

A family is a kind of release with a command; a folder may hold several families. Other packages
look in the folder for the modules ``release`` (its kinds of release) and ``task`` (records of what
it offers to the command line and the service).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One family of algorithms: its kind of release, its command, and its folder."""

    name: str
    command: str
    folder: str

    @property
    def release_module(self) -> str:
        """The module that registers its kind of release."""
        return f"privclust.{self.folder}.release"

    @property
    def task_module(self) -> str:
        """The module whose ``COMMANDS`` lists the tasks of each command; it is light."""
        return f"privclust.{self.folder}.task"


FAMILIES = (
    Family("kmeans", "kmeans", "clustering"),
    Family("coclustering", "cocluster", "coclustering"),
    Family("categorical", "categorical", "categories"),
    Family("source_target", "source-target", "source_target"),
    Family("bounds", "bounds", "bounds"),
    Family("summary", "summarise", "clustering"),
    Family("density", "density", "density"),
    Family("mixture", "mixture", "mixture"),
)
