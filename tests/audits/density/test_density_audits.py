"""Audits by sampling of the counts of a density, of two and of three columns.

What every answer can tell is known exactly (``test_density_transcripts``); the audits confirm it
where the noise is really drawn.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from privclust.audit.auditor import audit
from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget
from privclust.data.points.door import PointRows
from privclust.density.grid_counts import Grid, _ask_counts
from privclust.opening.rows import open_points
from privclust.privacy.meter import Meter
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow
from support.audits import answers_at_once
from support.noise import HalvedNoise
from support.views import plenty_of

pytestmark = pytest.mark.audit


@pytest.mark.parametrize("noise", [ExactNoise, HalvedNoise])
@pytest.mark.parametrize("columns", [2, 3])
def test_a_density_is_refuted_only_if_its_noise_is_halved(columns, noise):
    budget, schema = Budget(1), Schema.from_bounds(0, 1, n_columns=columns)
    crowd, grid = np.full((6, columns), 0.3), Grid.over(schema, 2)
    far = np.full((1, columns), 0.9)
    pair = NeighbourPair("one more", crowd, np.vstack([crowd, far]), AddRemoveRow())

    def answers(data, runs, rng):
        bits = SeededBits(int(rng.integers(2**62)))
        opened = open_points(data, schema=schema, unit=AddRemoveRow())
        door = PointRows(opened, rescale=True, noise=noise(bits))
        run = SimpleNamespace(meter=Meter(plenty_of(budget)), another_seed=lambda: None)
        (found,) = answers_at_once(lambda: _ask_counts(door, run, grid, budget.whole), runs)
        return found.reshape(runs, -1)

    report = audit(answers, pair, budget, runs=3000, batch=True, random_state=0)
    assert report.verdict == ("violated" if noise is HalvedNoise else "not refuted")
    assert report.epsilon_lower > 0.2
