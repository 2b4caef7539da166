"""privclust: cluster sensitive data and publish the result with a proof of privacy."""

from privclust.base import LeakWarning
from privclust.budget import Budget
from privclust.kmeans import PrivateKMeans
from privclust.privacy.statement import PrivacyStatement
from privclust.schema import Ball, Bins, Box, Categories, Schema
from privclust.unit import AddRemoveRow, Person, ReplaceRow

__version__ = "0.1.0"

__all__ = [
    "AddRemoveRow",
    "Ball",
    "Bins",
    "Box",
    "Budget",
    "Categories",
    "LeakWarning",
    "Person",
    "PrivacyStatement",
    "PrivateKMeans",
    "ReplaceRow",
    "Schema",
]
