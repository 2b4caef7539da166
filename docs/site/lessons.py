"""The gallery: its order, which is that of learning, and letters that a thumbnail can show."""

from __future__ import annotations

from typing import Any

# A release, what it says, what goes in, more methods, what surrounds them.
LESSONS = [
    "first_release",
    "error_bars",
    "choose_epsilon",
    "bounds",
    "private_bounds",
    "units",
    "leaks",
    "mixed_table",
    "any_number_of_clusters",
    "other_algorithms",
    "compare_clusterers",
    "gaussian_mixture",
    "synthetic_rows",
    "category_distances",
    "coclustering",
    "clinic_sites",
    "budget_over_a_year",
    "audit",
    "service_client",
]


class Lesson:
    """The place of an example; one that is not listed stops the build."""

    def __init__(self, _folder: str) -> None:
        pass

    def __call__(self, file: str) -> int:
        """Return the place of a file."""
        return LESSONS.index(file.removeprefix("plot_").removesuffix(".py"))


def enlarge_letters(_conf: Any, _file: str) -> None:
    """Draw the pictures of the next example with letters that are still read when it is small."""
    import matplotlib as mpl

    mpl.rcParams.update({"font.size": 13, "axes.titlesize": 13, "legend.fontsize": 11})
