"""Paid profiles of a summary: histograms of the clusters that its cells suggest."""

from __future__ import annotations

from privclust.budget import Share
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.kmeans.profiles import ask_profiles
from privclust.notes import signal_of
from privclust.schema.coordinates import Coordinates
from privclust.summary.choosing import chosen
from privclust.summary.clustering import clustered, most_clusters
from privclust.summary.result import ClusterProfiles, SummaryResult

__all__ = ["ask_cluster_histograms"]


def ask_cluster_histograms(
    view: PointsView, share: Share, result: SummaryResult, door: PointRows
) -> ClusterProfiles:
    """Ask for the histograms of as many clusters as the released cells suggest.

    The clusters are computed from the cells as they will be released, so that everybody who
    computes them later finds the same.
    """
    schema, domain = door.schema, door.domain
    places = domain.released(result.cells.cells)
    cells = result.cells.scaled(domain.radius, cells=places / domain.scales)
    # Where noise hides the rows there is nothing to choose by.
    clear = signal_of(result.notes) == "seen" and most_clusters(cells) > 2
    k = chosen(cells, schema=schema).suggestion if clear else 1
    centers = Coordinates(schema).projected(clustered(cells, k).centers * domain.scales)
    asked = ask_profiles(view, share, domain.to_unit_ball(centers), schema)
    return ClusterProfiles(centers, asked)
