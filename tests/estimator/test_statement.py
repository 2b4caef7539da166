"""A privacy statement says what voids its promise, in words, in JSON, and after reading it back."""

from __future__ import annotations

import json

import pytest

from privclust.budget import Budget, Loss
from privclust.privacy.meter import Meter
from privclust.privacy.statement import SEEDED
from privclust.statement import PrivacyStatement
from privclust.unit.rows import AddRemoveRow

SCALER = "the pipeline step 'scale' was fitted on the same rows without noise"
CHOSEN = "it was chosen by exact scores of private rows"


def statement(*, private=True, flaws=()) -> PrivacyStatement:
    meter = Meter(Budget(1))
    meter.charge("count", Loss.of_pure(Budget(1).amount), "noise")
    return PrivacyStatement.from_meter(meter, unit=AddRemoveRow(), private=private, flaws=flaws)


def test_a_statement_without_flaws_promises():
    sound = statement()
    assert sound.private
    assert not sound.seeded
    assert sound.flaws == ()
    assert "NOT PRIVATE" not in str(sound) + repr(sound)


@pytest.mark.parametrize("flaws", [(SCALER,), (SCALER, CHOSEN)])
def test_every_flaw_voids_the_promise_and_is_told(flaws):
    void = statement(flaws=flaws)
    assert not void.private
    assert not void.seeded
    for text in (void.promise, str(void), repr(void)):
        assert "NOT PRIVATE" in text
        assert "differentially private" not in text
        assert all(flaw in text for flaw in flaws)


def test_a_seed_is_the_first_of_the_flaws():
    void = statement(private=False, flaws=(CHOSEN,))
    assert void.flaws == (SEEDED, CHOSEN)
    assert void.seeded
    assert not void.private


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("flaws", [(), (SCALER,)])
def test_flaws_survive_json(private, flaws):
    before = statement(private=private, flaws=flaws)
    after = PrivacyStatement.from_dict(json.loads(json.dumps(before.to_dict())))
    assert after == before


def test_a_document_cannot_call_a_flawed_release_private():
    plain = statement(flaws=(SCALER,)).to_dict()
    with pytest.raises(ValueError, match="contradicts itself"):
        PrivacyStatement.from_dict(plain | {"private": True})
    with pytest.raises(ValueError, match="contradicts itself"):
        PrivacyStatement.from_dict(plain | {"flaws": []})


@pytest.mark.parametrize("flaws", [SCALER, (1,), [SCALER]])
def test_flaws_that_are_not_a_tuple_of_texts_are_refused(flaws):
    with pytest.raises(TypeError, match="tuple of texts"):
        statement(flaws=flaws)


def test_a_query_says_what_it_asks_once_and_keeps_it_in_json():
    meter = Meter(Budget(1))
    for name in ("first", "second"):
        meter.charge(name, Loss.of_pure(Budget("0.5").amount), "noise", "how many rows there are")
    told = PrivacyStatement.from_meter(meter, unit=AddRemoveRow(), private=True)
    assert "  first (how many rows there are; noise)\n  second (noise)" in str(told)
    assert PrivacyStatement.from_dict(json.loads(json.dumps(told.to_dict()))) == told
    assert "asks" not in statement().to_dict()["queries"][0]
