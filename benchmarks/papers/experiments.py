"""Every figure and table of the four papers: its file of results, and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import beyond
import dilca
import dilca_tests
import targets
import tau
import zones
from given import Given, Row

__all__ = ["EXPERIMENTS", "Experiment"]


class Experiment(NamedTuple):
    """What of a paper an experiment repeats, and how."""

    repeats: str
    rows: Callable[[Given], Iterator[Row]]


EXPERIMENTS = {
    "tau-leakage": Experiment("DP-τCC, Figure 1", tau.leakage),
    "tau-epsilon": Experiment("DP-τCC, Figure 2 and supplement, Figure 1", tau.epsilon),
    "tau-rivals": Experiment("DP-τCC, the rivals of Figure 2, made private", tau.rivals),
    "tau-rounds": Experiment("DP-τCC, Figure 3 and supplement, Figure 2", tau.rounds),
    "tau-h": Experiment("DP-τCC, supplement, Figure 3", tau.choice_share),
    "tau-columns": Experiment("DP-τCC, supplement, Figures 4 to 6", tau.columns),
    "tau-beyond": Experiment("beyond DP-τCC: numbers of clusters found", beyond.found_sizes),
    "zones-gaps": Experiment("SubCluster-Guarantee, Figures 3 and 4", zones.gaps),
    "zones-convergence": Experiment(
        "SubCluster-Guarantee, the claim of the title", zones.convergence
    ),
    "zones-readings": Experiment("SubCluster-Guarantee, what the text leaves open", zones.readings),
    "zones-attack": Experiment("SubCluster-Guarantee, the claim of privacy", zones.attack),
    "zones-compare": Experiment("SubCluster-Guarantee beside private k-means", zones.compare),
    "zones-ablation": Experiment("the parts of the repair", zones.ablation),
    "targets-costs": Experiment("source-target, Figures 3, 6 and 57 to 104", targets.costs),
    "targets-nearest": Experiment("source-target, Figures 4 and 5", targets.nearest),
    "targets-coreset": Experiment("source-target, Figures 7 to 56", targets.coresets),
    "targets-rivals": Experiment("source-target, Figures 105 to 176", targets.rivals),
    "targets-bounds": Experiment("source-target, Theorems 5.5, 5.10, 5.12, B.1", targets.bounds),
    "targets-times": Experiment("source-target, Figures 177 to 200", targets.times),
    "targets-solver": Experiment("source-target, the solver of Section 6", targets.solver),
    "targets-adaptation": Experiment(
        "source-target, the use in domain adaptation", targets.adaptation
    ),
    "targets-beyond": Experiment("beyond NNA: costs that can be promised", beyond.certified),
    "dilca-text": Experiment("DP-DILCA, Example 2", dilca.running_example),
    "dilca-values": Experiment("DP-DILCA, Figures 2, 3 and 8", dilca.values),
    "dilca-ward": Experiment("DP-DILCA, Figure 4", dilca.ward),
    "dilca-neighbours": Experiment("DP-DILCA, Figure 5", dilca.neighbours),
    "dilca-synthetic": Experiment("DP-DILCA, Figure 6", dilca.synthetic),
    "dilca-size": Experiment("DP-DILCA, Figure 7", dilca.size),
    "dilca-tests": Experiment("DP-DILCA, Figure 9 and Tables 3 to 5", dilca_tests.tests),
    "dilca-objects": Experiment("DP-DILCA, Figures 10 and 11", dilca.objects),
    "dilca-kmeans": Experiment("DP-DILCA, Figure 12", dilca.kmeans),
    "dilca-times": Experiment("DP-DILCA, Table 6", dilca.times),
    "dilca-examples": Experiment("DP-DILCA, Tables 7 and 8", dilca.examples),
    "dilca-beyond": Experiment("beyond DP-DILCA: sizes of contexts", beyond.chosen_contexts),
}
