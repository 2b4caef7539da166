"""The view of a matrix of counts of which whole rows are protected, and its questions.

Every row is brought to a public size by itself, so that adding or removing one changes each answer
by a known amount; see ``proofs/matrix.md``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.engines.base import current_engine
from privclust.data.matrix import kernels
from privclust.data.matrix.public import Groups
from privclust.data.matrix.rows import source_from
from privclust.data.view import Noisy, View
from privclust.privacy.additive import amount_in
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import MatrixRow


class ProfilesView(View):
    """A matrix of counts of which whole rows are protected; the number of rows is private.

    Parameters
    ----------
    counts : MatrixSource, or csr_array of int64
        The entries.
    meter : Meter
        What is debited, in the currency of zCDP.
    noise : NoiseSource
        Where the noise comes from.
    """

    asks: ClassVar[dict[str, str]] = {
        "profile_sums": "what the rows most similar to each prototype look like together",
        "block_shares": "how the rows of each prototype spread over groups of columns",
    }

    def __init__(self, counts: Any, meter: Meter, noise: NoiseSource) -> None:
        super().__init__(MatrixRow(), meter, noise)
        self._source = source_from(counts)
        self._rows = current_engine().open(self._source, self._source.encoder)

    @property
    def n_columns(self) -> int:
        """Number of columns, which is public."""
        return self._source.shape[1]

    def ask_profile_sums(self, name: str, prototypes: Floats, share: Share) -> Noisy:
        """Ask for the sum of the profiles of the rows that are most similar to each prototype.

        The profile of a row is the vector of the square roots of its entries, brought to length
        one. A row belongs to the prototype with which its profile has the largest inner product.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        prototypes : ndarray of shape (n_prototypes, n_columns)
            Public.
        share : Share
            What to pay.

        Returns
        -------
        Noisy, value of shape (n_prototypes, n_columns)

        Notes
        -----
        *Why this is private.* The profile and the prototype of a row depend on that row alone. So
        an added row adds one vector of length at most one to one line of the table and leaves all
        other lines as they are.
        """
        return self._sums(name, kernels.ProfileSums(prototypes), share)

    def ask_block_shares(
        self, name: str, prototypes: Floats, column_groups: Groups, share: Share
    ) -> Noisy:
        """Ask how the rows of each prototype spread over public groups of columns.

        Every row counts as one in all, divided among the groups as its entries are. It belongs to
        the prototype that :meth:`profile_sums` would give it to.

        Parameters
        ----------
        name : str
            What the question is called in the privacy statement.
        prototypes : ndarray of shape (n_prototypes, n_columns)
            Public.
        column_groups : Groups
            Public.
        share : Share
            What to pay.

        Returns
        -------
        Noisy, value of shape (n_prototypes, column_groups.count)

        Notes
        -----
        *Why this is private.* Shares and prototype of a row depend on that row alone. So an added
        row adds to one line of the table numbers of at least zero that add up to at most one, a
        vector whose length is at most one, and leaves all other lines as they are.
        """
        statistic = kernels.BlockShares(prototypes, column_groups.labels, column_groups.count)
        return self._sums(name, statistic, share)

    def _sums(
        self, name: str, statistic: kernels.ProfileSums | kernels.BlockShares, share: Share
    ) -> Noisy:
        amount_in(share, "zcdp")  # pure ε would take noise of another kind, which is not offered
        return self._answer(name, statistic, share)
