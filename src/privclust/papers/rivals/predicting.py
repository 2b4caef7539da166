"""What a fitted factorisation tells the holder of rows besides labels: their loadings."""

from __future__ import annotations

from typing import Any

from privclust._typing import Floats
from privclust.clustering.predicting import PointLabels
from privclust.holder.answers import OwnFactors


class Loadings(PointLabels):
    """Exact loadings of rows on released components; they are not a release."""

    radius: float | None
    components_: Floats

    def loadings(self, X: Any) -> Floats:
        """Return the non-negative loadings of rows on the components, for the holder of the rows.

        The largest loading of a row names its component as the authors of the method do;
        ``predict`` names the nearest centre, as the release does.
        """
        with self._open_again(X) as opened:
            own = OwnFactors(opened, radius=self.radius, rescale=self._scaled["rescale"])
            return own.loadings(self.components_)
