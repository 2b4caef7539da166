"""Source-target clustering: new centres among public targets beside private existing ones."""

from privclust.transfer.estimator import PrivateSourceTargetMedoids, SourceWarning
from privclust.transfer.sanitised import PrivateSource

__all__ = ["PrivateSource", "PrivateSourceTargetMedoids", "SourceWarning"]
