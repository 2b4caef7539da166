"""Facts and schemas: what they hold, what they refuse, and in which words."""

import copy
import pickle

import numpy as np
import pytest

from privclust.exceptions import SchemaError
from privclust.schema.ball_fact import Ball
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema


def as_one_sentence(message):
    return message.endswith(".") and ". " not in message and "; " in message


AGE, SEX = Box(0, 120), Categories(["f", "m"])
INCOME = Bins([0, 10, 20.5], missing="category")
MIXED = Schema({"age": AGE, "sex": SEX, "bmi": Box(10, 60, 25), "income": INCOME})


class TestFacts:
    def test_bounds_are_python_floats(self):
        box = Box(np.float32(0.1), np.int64(3), np.float64(1.5))
        assert [type(box.low), type(box.high), type(box.missing)] == [float] * 3

    def test_categories_are_plain_values(self):
        values = Categories(np.array([3, 1, 2])).values
        assert values == (3, 1, 2)
        assert {type(value) for value in values} == {int}
        assert type(Categories([np.str_("a")]).values[0]) is str
        assert Categories(np.array([True, False])).values == (True, False)

    def test_kind_follows_the_values(self):
        kinds = [Categories(values).kind for values in (["a"], [1, 0], [True, False])]
        assert kinds == ["text", "integer", "boolean"]

    def test_codes_come_after_the_listed_values(self):
        both = Categories(["a", "b"], missing="category", unknown="other")
        assert (both.size, both.missing_code, both.unknown_code) == (4, 2, 3)
        assert both.labels == ("a", "b", "(missing)", "(other)")
        other = Categories(["a", "b"], unknown="other")
        assert (other.size, other.missing_code, other.unknown_code) == (3, None, 2)
        plain = Categories(["a", "b"])
        assert (plain.size, plain.missing_code, plain.unknown_code) == (2, None, None)

    def test_bins_have_one_category_per_gap(self):
        assert (INCOME.size, INCOME.missing_code) == (3, 2)
        assert INCOME.labels == ("0.0 to 10.0", "10.0 to 20.5", "(missing)")
        assert (Bins([0, 1]).size, Bins([0, 1]).missing_code) == (1, None)

    def test_repr_leaves_out_defaults(self):
        assert repr(Box(0, 1)) == "Box(low=0.0, high=1.0)"
        assert repr(Box(0, 1, 0.5)) == "Box(low=0.0, high=1.0, missing=0.5)"
        assert repr(SEX) == "Categories(values=('f', 'm'))"

    def test_facts_are_frozen(self):
        with pytest.raises(AttributeError):
            AGE.low = 3.0

    @pytest.mark.parametrize(
        ("make", "part"),
        [
            (lambda: Box(1, 1), "low below high"),
            (lambda: Box(2, 1), "low below high"),
            (lambda: Box(0, 1e-200), "widen the bounds"),
            (lambda: Box(float("nan"), 1), "finite number"),
            (lambda: Box(0, float("inf")), "finite number"),
            (lambda: Box(0, 10**400), "finite number"),
            (lambda: Box(0, 1e200), "finite number"),
            (lambda: Box("0", 1), "a number as low"),
            (lambda: Box(False, True), "a number as low"),
            (lambda: Box(0, None), "a number as high"),
            (lambda: Box(0, 1, 2), "outside the bounds"),
            (lambda: Box(0, 1, float("nan")), "finite number"),
            (lambda: Box(0, 1, "drop"), "not a rule for numbers"),
            (lambda: Box(0, 1, None), "a number as missing"),
            (lambda: Bins([1]), "two edges"),
            (lambda: Bins([]), "two edges"),
            (lambda: Bins([0, 2, 1]), "rising order"),
            (lambda: Bins([0, 0, 1]), "rising order"),
            (lambda: Bins("01"), "a list as edges"),
            (lambda: Bins([0, float("nan")]), "finite number"),
            (lambda: Bins([0, 1], missing=0.5), "not a rule for categories"),
            (lambda: Categories([]), "at least one value"),
            (lambda: Categories(["a", "a"]), "twice"),
            (lambda: Categories(["a", 1]), "one type"),
            (lambda: Categories([True, 1]), "one type"),
            (lambda: Categories([1.5]), "text, integers or booleans"),
            (lambda: Categories([None]), "text, integers or booleans"),
            (lambda: Categories([2**63]), "64 bits"),
            (lambda: Categories("ab"), "a list as values"),
            (lambda: Categories({"a", "b"}), "a list as values"),
            (lambda: Categories(5), "a list as values"),
            (lambda: Categories(["\ud800"]), "valid Unicode"),
            (lambda: Categories(["a"], missing="drop"), "not a rule for categories"),
            (lambda: Categories(["a"], unknown="category"), "not a rule for categories"),
            (lambda: Ball(0, [0]), "radius above zero"),
            (lambda: Ball(-1, [0]), "radius above zero"),
            (lambda: Ball(float("inf"), [0]), "finite number"),
            (lambda: Ball(1, 0), "a list as center"),
            (lambda: Ball(1, [float("nan")]), "finite number"),
        ],
    )
    def test_a_bad_fact_is_refused_in_one_sentence(self, make, part):
        with pytest.raises(SchemaError, match=part) as caught:
            make()
        assert as_one_sentence(str(caught.value))


class TestSchema:
    def test_columns_keep_their_order(self):
        assert MIXED.names == ("age", "sex", "bmi", "income")
        assert MIXED.numeric == ("age", "bmi")
        assert MIXED.categorical == ("sex", "income")
        assert list(MIXED.columns) == list(MIXED) == list(MIXED.names)
        np.testing.assert_array_equal(MIXED.low, [0, 10])
        np.testing.assert_array_equal(MIXED.high, [120, 60])

    def test_looks_like_a_mapping(self):
        assert MIXED["sex"] == SEX
        assert len(MIXED) == 4
        assert "age" in MIXED
        assert "weight" not in MIXED

    def test_without_numbers_the_bounds_are_empty(self):
        schema = Schema({"sex": SEX})
        assert schema.low.shape == schema.high.shape == (0,)
        assert schema.low.dtype == np.float64

    def test_equality_regards_order_facts_ball_and_note(self):
        assert Schema({"a": AGE, "b": SEX}) == Schema([("a", Box(0.0, 120.0)), ("b", SEX)])
        assert Schema({"a": AGE, "b": SEX}) != Schema({"b": SEX, "a": AGE})
        assert Schema({"a": AGE}) != Schema({"a": Box(0, 121)})
        assert Schema({"a": AGE}) != Schema({"a": AGE}, ball=Ball(1, [3]))
        assert Schema({"a": AGE}) != Schema({"a": AGE}, note="checked")
        assert Schema({"a": Categories([1, 0])}) != Schema({"a": Categories([True, False])})

    def test_equal_schemas_hash_alike(self):
        assert hash(Schema({"a": AGE})) == hash(Schema({"a": Box(0, 120)}))

    def test_survives_pickle_and_deepcopy(self):
        assert pickle.loads(pickle.dumps(MIXED)) == MIXED == copy.deepcopy(MIXED)

    def test_repr_makes_the_schema_again(self):
        schema = Schema({"age": AGE, "sex": SEX}, ball=Ball(3, [1]), note="a 'note'")
        assert eval(repr(schema)) == schema  # noqa: S307
        assert repr(Schema({"age": AGE})) == "Schema({\n    'age': Box(low=0.0, high=120.0),\n})"

    @pytest.mark.parametrize(
        ("make", "part"),
        [
            (lambda: Schema({}), "at least one column"),
            (lambda: Schema([("a", AGE), ("a", SEX)]), "Column 'a' is declared twice"),
            (lambda: Schema({"a": (0, 1)}), "Column 'a' is declared as tuple"),
            (lambda: Schema({"a": Ball(1, [0])}), "Column 'a' is declared as Ball"),
            (lambda: Schema({3: AGE}), "must be text, got 3"),
            (lambda: Schema({"": AGE}), "must be text"),
            (lambda: Schema({"\udfff": AGE}), "valid Unicode"),
            (lambda: Schema({"a": AGE}, note=3), "note of a schema must be text"),
            (lambda: Schema({"a": AGE}, ball=3), "must be a Ball"),
            (lambda: Schema({"a": SEX}, ball=Ball(1, [])), "needs numeric columns"),
            (lambda: Schema({"a": AGE}, ball=Ball(1, [0, 0])), "2 numbers for 1 numeric"),
            (lambda: Schema({"a": AGE}, ball=Ball(1, [-1])), "Column 'a': the ball's center"),
        ],
    )
    def test_a_bad_schema_is_refused_in_one_sentence(self, make, part):
        with pytest.raises(SchemaError, match=part) as caught:
            make()
        assert as_one_sentence(str(caught.value))


class TestFromBounds:
    def test_scalars_hold_for_all_columns(self):
        schema = Schema.from_bounds(-1, 1, n_columns=3)
        assert schema == Schema({f"x{i}": Box(-1, 1) for i in range(3)})
        named = Schema.from_bounds(-1, 1, names=["u", "v"], ball=Ball(1, [0, 0]))
        assert named == Schema({"u": Box(-1, 1), "v": Box(-1, 1)}, ball=Ball(1, [0, 0]))

    def test_arrays_hold_per_column(self):
        schema = Schema.from_bounds(np.array([0, 1]), [2.0, 3.0])
        assert schema == Schema({"x0": Box(0, 2), "x1": Box(1, 3)})
        assert Schema.from_bounds(0, (2, 3)) == Schema({"x0": Box(0, 2), "x1": Box(0, 3)})

    @pytest.mark.parametrize(
        ("make", "part"),
        [
            (lambda: Schema.from_bounds(0, 1), "one bound per column"),
            (lambda: Schema.from_bounds([0, 0], [1, 1, 1]), "low 2, high 3"),
            (lambda: Schema.from_bounds(0, [1, 1], n_columns=3), "high 2, n_columns 3"),
            (lambda: Schema.from_bounds(0, 1, names=["a"], n_columns=2), "names 1, n_columns 2"),
            (lambda: Schema.from_bounds([0, 5], [1, 4]), "Column 'x1': a Box needs low below"),
            (lambda: Schema.from_bounds(0, np.ones((2, 2))), "one number per column"),
            (lambda: Schema.from_bounds("0", 1, n_columns=1), "one number per column"),
            (lambda: Schema.from_bounds([], []), "at least one column"),
        ],
    )
    def test_bad_bounds_are_refused_in_one_sentence(self, make, part):
        with pytest.raises(SchemaError, match=part) as caught:
            make()
        assert as_one_sentence(str(caught.value))


def test_label_and_description_are_told_and_kept_and_change_nothing_else():
    told = Box(0, 9, unit="kg", label=" body \n weight", description="On admission.")
    assert told.label == "body weight"
    schema = Schema({"w": told, "c": Categories(["a", "b"], label="kind"), "b": Bins([0, 1])})
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(schema.to_dict()) == schema
    assert "label" not in Box(0, 9).to_dict()
    assert "label" not in repr(Box(0, 9))
    with pytest.raises(SchemaError, match="The label of a column must be text"):
        Box(0, 9, label=3)


def test_a_single_category_and_large_numbers_are_told_in_plain_words():
    assert Categories(["a"]).describe() == "1 category"
    assert Bins([0, 1]).describe() == "1 bin from 0 to 1"
    assert Box(0, 2_500_000).describe() == "0 to 2500000"
