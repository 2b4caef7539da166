"""The one list of the families of algorithms; text alone, so that reading it imports nothing.

A family is a folder of the package and a line here. In the folder the others look for the modules
``release`` (its kind of release) and ``audited`` (what an audit runs); its commands are a module
of ``cli``, which nobody imports but the command line.
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
        The folder in the package.
    title : str
        What a reader calls the task.
    command : str
        Its command on the command line, and its name as the subject of an audit.
    kind : str
        Its kind of release.
    estimators : tuple of str
        Dotted names of its private estimators.
    """

    name: str
    title: str
    command: str
    kind: str
    estimators: tuple[str, ...]

    @property
    def release_module(self) -> str:
        """The module that registers its kind of release."""
        return f"privclust.{self.name}.release"

    @property
    def command_module(self) -> str:
        """The module with its commands ``fit`` and ``plan``; nothing heavy is imported by it."""
        return f"privclust.cli.{self.name}"

    @property
    def audit_module(self) -> str:
        """The module whose ``subject(epsilon, delta)`` returns a fit and pairs of neighbours."""
        return f"privclust.{self.name}.audited"


# fmt: off
FAMILIES = (
    Family("kmeans", "k-means clustering", "kmeans", "kmeans", ("privclust.PrivateKMeans", "privclust.published.PrivateZoneKMeans", "privclust.baselines.PrivateHighDimKMeans", "privclust.baselines.PrivateNMF", "privclust.baselines.PrivateWGAN")),  # noqa: E501
    Family("coclustering", "co-clustering of a matrix of counts", "cocluster", "coclustering", ("privclust.PrivateCoclustering", "privclust.published.PrivateTauCoclustering")),  # noqa: E501
    Family("categorical", "distances between categories, and clusters by them", "categorical", "categorical", ("privclust.PrivateDilca", "privclust.PrivateCategoricalKMeans", "privclust.baselines.PrivateOneHotKMeans")),  # noqa: E501
    Family("source_target", "new centres beside private ones", "source-target", "source_target", ("privclust.PrivateSourceTargetMedoids",)),  # noqa: E501
    Family("summary", "one summary for any number of clusters", "summarise", "summary", ("privclust.PrivateSummary",)),  # noqa: E501
)
# fmt: on
