"""A row of zeros is a row like any other: stored or not, it adds nothing to a sum of profiles.

Its shares are 0/0. Once they became the most negative integer there is, which no noise hides.
"""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse

from privclust import PrivateCoclustering
from privclust.audit.auditor import audit
from privclust.budget import Budget
from privclust.data.matrix.view import ProfilesView
from privclust.exceptions import DataError
from privclust.opening.matrices import open_matrix
from privclust.privacy.mechanisms import DiscreteGaussian
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.unit.matrix import MatrixRow

CLAIM = Budget(1, 1e-6)
ROWS = sparse.csr_array(np.ones((4, 6), np.int64))
STORED_ZEROS = sparse.csr_array(
    (np.array([0, 0]), np.array([2, 4]), np.array([0, 2])), shape=(1, 6)
)
WITH_ZEROS = sparse.csr_array(sparse.vstack([ROWS, STORED_ZEROS], format="csr"))


def exact_profiles(matrix: sparse.csr_array) -> np.ndarray:
    """Return what ``profile_sums`` hands to the noise."""
    seen: list[np.ndarray] = []

    def draw(self: DiscreteGaussian, exact: np.ndarray, noise: object) -> np.ndarray:
        seen.append(exact)
        return exact

    view = ProfilesView(matrix, Meter(CLAIM), ExactNoise())  # the door drops stored zeros already
    with patch.object(DiscreteGaussian, "draw", draw):
        view.ask_profile_sums("profiles", np.eye(6)[:2], CLAIM.whole)
    return seen[0]


def test_stored_zeros_are_dropped_at_the_door() -> None:
    assert open_matrix(WITH_ZEROS, unit=MatrixRow()).source._counts.data.all()


@pytest.mark.filterwarnings("error")
def test_a_row_of_stored_zeros_changes_no_exact_profile() -> None:
    np.testing.assert_array_equal(exact_profiles(WITH_ZEROS), exact_profiles(ROWS))


def profiles(matrix: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Return one noisy answer, of a seed, so that the verdict is the same in every run."""
    seed = np.random.SeedSequence(int(rng.integers(2**63)))
    view = ProfilesView(matrix, Meter(CLAIM), ExactNoise(SeededBits(seed)))
    return view.ask_profile_sums("profiles", np.eye(6)[:2], CLAIM.whole).value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_row_of_stored_zeros_is_as_well_hidden_as_is_claimed() -> None:
    report = audit(profiles, (ROWS, WITH_ZEROS), CLAIM, 300, random_state=0)
    assert report.verdict == "not refuted", report


@pytest.mark.filterwarnings("ignore")
def test_pieces_without_a_single_row_are_the_matrix_without_rows(tmp_path: Path) -> None:
    """It belongs to the data space, and must not be told apart by an error."""
    for number in range(2):
        sparse.save_npz(tmp_path / f"{number}.npz", sparse.csr_array((0, 6), dtype=np.int64))
    PrivateCoclustering(2, 2, epsilon=1, delta=1e-6, unit=MatrixRow()).fit(tmp_path)
    with pytest.raises(DataError, match="The matrix has no rows"):
        PrivateCoclustering(2, 2, epsilon=1).fit(tmp_path)
