"""What all answers of k-means can tell neighbours apart by, exactly: what was paid, and no more.

No sampling is needed: the exact values of both neighbours are caught where noise is added, and
the noise where it is drawn. Each question is asked alone, then all questions of a whole fit.
"""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from privclust import PrivateKMeans
from privclust.audit.neighbours import (
    NeighbourPair,
    duplicate_mass,
    far_outlier,
    single_row_cluster,
)
from privclust.budget import Budget
from privclust.clustering.cells import ask_cells
from privclust.clustering.lloyd import ask_lloyd
from privclust.unit.base import UnitStep
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.noise import halved_sensitivities, seeded_noise
from support.point_questions import QUESTIONS, ask, pair_for
from support.transcripts import (
    Transcript,
    amount_lost,
    loss_between,
    recorded_draws,
    replayed_draws,
)
from support.views import plenty_of, view_of

UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 2)]
METHODS = ["cells", "cautious", "grid", "lloyd"]
BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}

# Replacing a row leaves the number of rows as it is, second moments at a right angle, and a count
# in every line of a component, so that no two lines are opposite.
WITH_NOISE_TO_SPARE = {("count", "replace-row"): 0, ("moments", "replace-row"): 0.65}
WITH_NOISE_TO_SPARE |= {(name, "replace-row"): 0.65 for name in ("components", "tied components")}
UNMOVED = ("count", "replace-row")
every_question = pytest.mark.parametrize("question", QUESTIONS)
every_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
every_currency = pytest.mark.parametrize("currency", BUDGETS)


def asked(question, unit, currency, *, halved=False):
    """Return the transcript of one question, for which the whole budget is paid."""
    budget = BUDGETS[currency]
    transcript = Transcript(
        [
            view_of(data, unit=unit, budget=plenty_of(budget), noise=seeded_noise(0, halved=halved))
            for data in pair_for(unit, question)
        ]
    )
    ask(transcript, question, budget.whole)
    return transcript


@every_currency
@every_unit
@every_question
def test_a_question_loses_what_was_paid_for_it_and_no_more(question, unit, currency):
    lost = amount_lost(asked(question, unit, currency).loss, currency)
    part = WITH_NOISE_TO_SPARE.get((question, unit.name), 0.95)
    part = part if currency == "pure" else part**2
    assert part * BUDGETS[currency].amount <= lost <= BUDGETS[currency].amount


@every_currency
@every_unit
@every_question
def test_halved_noise_of_a_question_is_found(question, unit, currency):
    transcript = asked(question, unit, currency, halved=True)
    assert amount_lost(transcript.cost, currency) > BUDGETS[currency].amount
    if (question, unit.name) != UNMOVED:
        assert amount_lost(transcript.loss, currency) > BUDGETS[currency].amount


@every_currency
@every_unit
@every_question
def test_a_halved_sensitivity_of_a_question_is_found(question, unit, currency):
    with halved_sensitivities():
        lost = amount_lost(asked(question, unit, currency).loss, currency)
    # What no neighbour changes is safe with any noise.
    assert (lost > BUDGETS[currency].amount) == ((question, unit.name) != UNMOVED)


# The transcript of a whole fit


@every_currency
@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("method", [ask_cells, ask_lloyd])
def test_a_whole_run_loses_more_than_the_budget_only_if_noise_is_halved(method, halved, currency):
    crowd, budget = np.full((30, 1), -1.0), BUDGETS[currency]
    noise, plenty = seeded_noise(0, halved=halved), plenty_of(budget)
    pair = (crowd, np.append(crowd, [[1.0]], axis=0))
    transcript = Transcript([view_of(data, budget=plenty, noise=noise) for data in pair])
    method(transcript, budget.whole, 1, np.random.default_rng(0))
    assert (amount_lost(transcript.loss, currency) > budget.amount) == halved


def people_pair(pair):
    """Return a pair of data frames that differ by the rows of one person, more than count."""
    rows = np.concatenate([pair.left, pair.right[-1:].repeat(4, axis=0)])
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame["who"] = np.minimum(np.arange(len(frame)), len(pair.left))
    return NeighbourPair(pair.name, frame[: len(pair.left)], frame)


def pairs_for(unit):
    """Return neighbours in the box (-1, 1) with two columns."""
    name = unit.name if isinstance(unit, ReplaceRow) else "add-remove-row"
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    crowd = np.random.default_rng(0).uniform(-1, -0.5, (8, 2))
    pairs = [
        duplicate_mass(low, high, copies=30, unit=name),
        far_outlier(crowd, low, high, distance=1e6, unit=name),
        single_row_cluster([low, high], copies=200, unit=name),
    ]
    return [people_pair(pair) for pair in pairs] if isinstance(unit, Person) else pairs


def estimator(method, unit, budget):
    return PrivateKMeans(
        2, method=method, unit=unit, random_state=0, bounds=(-1, 1),
        epsilon=budget.epsilon, delta=budget.delta,
    )  # fmt: skip


def losses_of_transcripts(model, pairs, seeds):
    """Return the exact loss of transcripts of a fit, between the two data sets of each pair."""
    currency = "zcdp" if model.delta else "pure"
    for pair in pairs:
        for seed in seeds:
            model = clone(model).set_params(random_state=seed)
            with recorded_draws() as draws:
                model.fit(pair.left)
            with replayed_draws([draw.answer for draw in draws]) as twins:
                model.fit(pair.right)
            yield amount_lost(loss_between(draws, twins), currency)


@pytest.mark.parametrize("method", METHODS)
@every_unit
@every_currency
def test_the_losses_of_a_transcript_add_up_to_at_most_the_budget(method, unit, currency):
    budget = BUDGETS[currency]
    model = estimator(method, unit, budget)
    losses = list(losses_of_transcripts(model, pairs_for(unit), range(2)))
    assert max(losses) <= budget.amount
    assert max(losses) >= budget.amount / 4


@pytest.mark.parametrize("method", METHODS)
def test_a_transcript_exceeds_the_budget_if_only_one_row_of_a_person_is_thought_of(method):
    unit, budget = Person("who", 2), Budget(1)
    with patch.object(Person, "one_step", UnitStep(1)):
        losses = losses_of_transcripts(estimator(method, unit, budget), pairs_for(unit), range(4))
        assert max(losses) > budget.amount


def test_questions_that_depend_on_the_data_are_noticed():
    def steps_by_exact_count(view, budget, n_clusters, n_rows):
        return 2 + int(view._rows.sum(lambda rows: np.array([len(rows)])).n_rows) % 2

    model = estimator("lloyd", AddRemoveRow(), Budget(1))
    with patch("privclust.clustering.lloyd._lloyd_steps", steps_by_exact_count):
        losses = losses_of_transcripts(model, pairs_for(AddRemoveRow()), [0])
        with pytest.raises(AssertionError):
            list(losses)
