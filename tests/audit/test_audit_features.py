"""Outputs of any form become a matrix of fixed width that shows where they differ."""

from __future__ import annotations

import dataclasses
import enum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

from privclust.audit.features import (
    GROUPS,
    MAX_VALUES,
    NEGATIVE_ZERO_LAST_BIT,
    ZERO_LAST_BIT,
    FeatureMap,
    low_bits,
)
from privclust.audit.outputs import (
    CustomFeature,
    Outputs,
    RaisedError,
    fitted_attributes,
    list_leaves,
)


@dataclasses.dataclass
class Release:
    centres: np.ndarray
    note: str


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Holder:
    def __init__(self, value):
        self.value = value
        self._hidden = value


class Fitted:
    """Looks like a fitted estimator."""

    def __init__(self, secret):
        self.parameter = secret
        self.mean_ = 1.0
        self._secret_ = secret

    @property
    def count_(self):
        return 3

    def method_(self):
        return self.parameter

    def fit(self, rows):
        return self


def outputs_of(values):
    return Outputs.from_leaves([list_leaves(value) for value in values])


def columns_of(values, groups=GROUPS):
    outputs = outputs_of(values)
    feature_map = FeatureMap(outputs, frozenset(groups))
    matrix = feature_map.matrix(outputs)
    names = [feature.name for feature in feature_map.features]
    assert matrix.shape == (len(values), len(names))
    return dict(zip(names, matrix.T, strict=True))


DIFFERENT = {
    "numbers": (1.0, 2.0),
    "integer and float": (1, 1.0),
    "precision": (np.float32(1), np.float64(1)),
    "text": ("yes", "no"),
    "bytes": (b"yes", b"no"),
    "something and nothing": (1.0, None),
    "number and text": (1.0, "1.0"),
    "shapes": (np.zeros((2, 3)), np.zeros((3, 2))),
    "sizes": (np.zeros(2), np.zeros(3)),
    "empty": (np.zeros(0), np.zeros((0, 2))),
    "missing": (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    "infinite": (np.array([1.0, np.inf]), np.array([1.0, 2.0])),
    "far element": (np.zeros(2 * MAX_VALUES), np.eye(1, 2 * MAX_VALUES, 2 * MAX_VALUES - 1)[0]),
    "complex": (1j, 2j),
    "moments": (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    "texts in an array": (np.array(["a", "b"]), np.array(["a", "c"])),
    "objects in an array": (np.array([1, None], object), np.array([1, "x"], object)),
    "tuples": ((1, "a"), (1, "b")),
    "ragged lists": ([[1], [2, 3]], [[1, 2], [3]]),
    "list and tuple": ([1, 2], (1, 2)),
    "sets": ({"a", "b"}, {"a", "c"}),
    "values of a dictionary": ({"a": 1}, {"a": 2}),
    "keys of a dictionary": ({"a": 1}, {"b": 1}),
    "order of keys": ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    "dataclasses": (Release(np.zeros(2), "x"), Release(np.zeros(2), "y")),
    "enumerations": (Colour.RED, Colour.BLUE),
    "objects": (Holder(1), Holder(2)),
    "fractions": (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)),
    "huge integers": (10**400, 10**400 + 1),
    "sign of zero": (0.0, -0.0),
    "last bit": (1.0, np.nextafter(1.0, 2.0)),
    "parity": (np.array([4, 6]), np.array([4, 7])),
    "stored zeros": (
        sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [0, 1])), shape=(2, 2)),
        sparse.csr_array((np.array([1.0]), ([0], [0])), shape=(2, 2)),
    ),
}


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_outputs_that_differ_differ_in_a_feature(left, right):
    columns = columns_of([left, right, left, right])
    assert columns
    assert any(
        not np.array_equal(column[0], column[1], equal_nan=True) for column in columns.values()
    )


@pytest.mark.parametrize("value", [side for pair in DIFFERENT.values() for side in pair])
def test_outputs_that_are_equal_have_no_features(value):
    assert columns_of([value, value]) == {}


def test_a_data_frame_shows_its_values_and_its_row_labels():
    import pandas

    frame = pandas.DataFrame({"age": [1.0, 2.0], "name": ["x", "y"]})
    assert "output['age'][1]" in columns_of([frame, frame.assign(age=[1.0, 3.0])])
    assert "output.index[0]" in columns_of([frame, frame.set_axis([5, 6])])
    assert "output[0]" in columns_of([frame["age"], -frame["age"]])


def test_an_object_that_holds_itself_is_walked_once():
    first, second = Holder(1), Holder(2)
    first.itself, second.itself = first, second
    assert "output.value" in columns_of([first, second])


def test_only_public_fitted_attributes_of_an_estimator_are_released():
    assert fitted_attributes(Fitted(7)) == {"mean_": 1.0, "count_": 3}
    assert columns_of([Fitted(7), Fitted(8)]) == {}


def test_groups_choose_what_is_looked_at():
    values = [np.array([0.5]), np.array([1.0, 2.0])]
    assert set(columns_of(values, ["shapes"])) == {"form of output"}
    assert all("bit" not in name for name in columns_of(values, ["values"]))
    assert "last bit of output[0]" in columns_of(values, ["low_bits"])


def test_what_a_feature_function_measured_is_looked_at_without_any_group():
    runs = [
        {"loss": np.asarray(float(loss)).view(CustomFeature), "x": np.ones(loss)} for loss in (1, 2)
    ]
    outputs = Outputs.from_leaves(runs)
    feature_map = FeatureMap(outputs, frozenset())
    assert [feature.name for feature in feature_map.features] == ["loss"]
    np.testing.assert_array_equal(feature_map.matrix(outputs), [[1.0], [2.0]])


def test_an_exception_is_shown_by_type_and_message():
    raised = [
        RaisedError("ValueError", "a"),
        RaisedError("ValueError", "b"),
        RaisedError("KeyError", "b"),
    ]
    outputs = Outputs.from_leaves([{"exception": leaf} for leaf in raised] + [list_leaves(1.0)])
    feature_map = FeatureMap(outputs, frozenset(["exceptions"]))
    types, messages = feature_map.matrix(outputs).T
    np.testing.assert_array_equal(types, [1, 1, 2, np.nan])
    np.testing.assert_array_equal(messages, [2, 1, 1, np.nan])
    assert feature_map.features[0].labels == ("any other", "ValueError", "KeyError")


def test_the_layout_of_the_first_runs_holds_for_all_others():
    feature_map = FeatureMap(outputs_of(["a", np.arange(2.0), np.arange(3.0)]), frozenset(GROUPS))
    others = ["unseen", np.arange(9.0), {"new": 1}, None]
    matrix = feature_map.matrix(outputs_of(others))
    assert matrix.shape == (4, len(feature_map.features))
    names = [feature.name for feature in feature_map.features]
    text = matrix[:, names.index("text of output")]
    np.testing.assert_array_equal(text, [0, np.nan, np.nan, 0])


@given(
    npst.arrays(np.float64, npst.array_shapes(max_dims=2, max_side=4), elements=st.floats()),
    st.sampled_from(GROUPS),
)
def test_features_of_any_array_are_the_same_stacked_or_one_by_one(array, group):
    stacked = Outputs(len(array), {("output", np.ndarray): array})
    one_by_one = outputs_of([np.asarray(row) for row in array])
    feature_map = FeatureMap(stacked, frozenset([group]))
    expected = feature_map.matrix(stacked)
    assert not np.isinf(expected).any()
    np.testing.assert_array_equal(feature_map.matrix(one_by_one), expected)
    parts = Outputs.concatenate([outputs_of(list(array[:1])), outputs_of(list(array[1:]))])
    np.testing.assert_array_equal(feature_map.matrix(parts), expected)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_low_bits_describe_a_number_exactly(number):
    described = {name: float(bits) for name, bits in low_bits(np.asarray(number)).items()}
    odd = Fraction(number) / Fraction(2) ** int(described["last bit"])
    assert odd.denominator == 1
    assert odd.numerator % 2 == 1
    exponent = int(described["exponent"])
    assert Fraction(1, 2) <= abs(Fraction(number)) / Fraction(2) ** exponent < 1
    significand = int(abs(Fraction(number)) / Fraction(2) ** (exponent - 53))
    assert described["low four bits"] == significand % 16
    assert described["trailing zeros"] == described["last bit"] - (exponent - 53)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False).filter(bool))
def test_low_bits_of_single_precision_use_its_own_significand(number):
    single, double = low_bits(np.asarray(number), 24), low_bits(np.asarray(number))
    assert single["last bit"] == double["last bit"]
    assert single["trailing zeros"] == double["trailing zeros"] - 29


def test_low_bits_of_what_has_none():
    values = np.array([0.0, -0.0, np.nan, np.inf, 3.0])
    expected = [ZERO_LAST_BIT, NEGATIVE_ZERO_LAST_BIT, np.nan, np.nan, 0]
    np.testing.assert_array_equal(low_bits(values)["last bit"], expected)
