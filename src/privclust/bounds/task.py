"""What columns of unknown range offer: bounds, found with noise."""

from __future__ import annotations

from privclust.parameters import SHARE, OneOf, Parameter
from privclust.tasks import Task, Variant

OUTSIDE_SHARE = Parameter(
    "outside_share", SHARE, 0.01, "Share of rows that may be left out.", metavar="NUMBER"
)
UNREADABLE = Parameter(
    "unreadable",
    OneOf(("error", "missing")),
    "error",
    "Refuse values that are not numbers, or count them.",
)

BOUNDS = Task(
    "bounds",
    "Bounds of columns",
    "Finds the range of each column.",
    (Variant("privclust.bounds:PrivateBounds", (OUTSIDE_SHARE, UNREADABLE), in_service=False),),
    "Find the ranges of columns of numbers in private rows, with noise.",
    "Rehearse private bounds on synthetic rows: questions, cost, noise, width to expect.",
    takes="forms",
    audited={"unreadable": "missing"},
)
COMMANDS = {"bounds": (BOUNDS,)}
