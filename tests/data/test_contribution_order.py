"""Which rows of a person count is decided by the rows themselves, whatever their ranks are worth.

Ranks are for fairness alone. So the tests here spoil them: rows are made whose words collide, and
the hash is replaced by ones that hardly tell rows apart.
"""

from collections import Counter
from itertools import chain, pairwise, permutations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Box, Person, PrivateKMeans, Schema
from privclust.data import people as ranks
from privclust.data.columns.kinds import TypedColumn
from privclust.data.people import ContributionBound, limit_rows_per_person
from privclust.reading.opening import open_rows
from support.blocks import block_numbers
from support.transcripts import recorded_draws

KEY = b"0123456789abcdef"
# Two rows whose words are the same for one person in about seven thousand, whatever the key: their
# columns differ by what two steps of the hash cancel. Nobody meets such rows by accident.
COLLIDING = np.array(
    [
        [float.fromhex("0x1.615b29ab61e8ep-1"), float.fromhex("-0x1.d90782b92582ep-1")],
        [float.fromhex("0x1.f7edb3fcff73ap-7"), float.fromhex("0x1.e6752c6f4e77fp+17")],
    ]
)
BOUNDS = Schema({"a": Box(-1, 1), "b": Box(-1, 1e6)})


def crowd(n_people, *, swapped=False):
    """Return people who each have both colliding rows."""
    rows = COLLIDING[::-1] if swapped else COLLIDING
    table = pd.DataFrame(np.tile(rows, (n_people, 1)), columns=["a", "b"])
    return table.assign(who=np.repeat(np.arange(n_people), 2))


def numbers_of(block):
    return block_numbers(block)


@pytest.mark.parametrize("seed", range(3))
def test_rows_made_to_collide_are_kept_alike_in_both_orders(seed):
    kept = []
    for swapped in (False, True):
        source = open_rows(crowd(100_000, swapped=swapped), ["a", "b"], id_column="who")
        rows = limit_rows_per_person(
            source, Person("who", 1), numbers_of, np.random.SeedSequence(seed)
        )
        firsts = [block_numbers(block)[:, 0].tolist() for block in rows.blocks()]
        kept.append(Counter(chain.from_iterable(firsts)))
    assert kept[0] == kept[1]
    assert kept[0].total() == 100_000
    # The key still draws: neither row is always the one.
    assert min(kept[0].values()) > 49_000


@pytest.mark.parametrize("seed", [2, 3])
def test_colliding_rows_in_another_order_give_an_estimator_the_same_exact_answers(seed):
    exact = []
    for swapped in (False, True):
        model = PrivateKMeans(
            2, epsilon=1, schema=BOUNDS, unit=Person("who", 1), method="lloyd", random_state=seed
        )
        with recorded_draws() as draws:
            model.fit(crowd(100_000, swapped=swapped))
        exact.append([draw.exact.tolist() for draw in draws])
    assert exact[0] == exact[1]


# Hashes that are worth less and less; the last one tells nothing apart at all.
HASHES = {
    "as it is": ranks._mix_bits,
    "two bits": lambda words: (words ^ (words >> np.uint64(7))) % np.uint64(4),
    "one bit": lambda words: (words >> np.uint64(3)) % np.uint64(2),
    "constant": lambda words: np.zeros_like(words),
}
VALUES = {"codes": (0, 1, 256), "numbers": (0.0, 0.5, -1.0), "whole numbers": (0.0, 1.0, 256.0)}


def kept(rows, max_rows, values, cuts=()):
    """Return the rows that count, as a multiset; each is a person and the places of two values."""
    contents = np.array([[values[a], values[b]] for _, a, b in rows]).reshape(-1, 2)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    blocks = list(pairwise(edges))
    bound = ContributionBound(Person("who", max_rows), KEY)
    for start, stop in blocks:
        ids = pa.array([row[0] for row in rows[start:stop]], pa.string())
        bound.add(TypedColumn.of(ids), contents[start:stop])

    def again(masks):
        return (contents[a:b][mask] for (a, b), mask in zip(blocks, masks, strict=True))

    mask = np.concatenate(bound.kept(again))
    return Counter(row for row, keep in zip(rows, mask, strict=True) if keep)


rows_of_people = st.lists(
    st.tuples(st.sampled_from("pq"), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12
)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("hashed", HASHES.values(), ids=HASHES)
@given(
    rows=rows_of_people,
    max_rows=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 12), max_size=3),
    random=st.randoms(use_true_random=False),
)
def test_the_rows_kept_of_a_person_are_a_function_of_their_multiset(
    hashed, values, rows, max_rows, cuts, random
):
    with patch.object(ranks, "_mix_bits", hashed):
        found = kept(rows, max_rows, values)
        others = [row for row in rows if row[0] == "p"]
        random.shuffle(others)
        alone = kept(others, max_rows, values, cuts) if others else Counter()
    assert alone == Counter(row for row in found.elements() if row[0] == "p")
    assert alone.total() == min(max_rows, len(others))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_people_draw_alike_in_blocks_of_one_row_and_without_half_of_the_others(values):
    rows = [(f"person {number}", a, 1 - a) for number in range(60) for a in (0, 1)]
    everybody = kept(rows, 1, values, range(len(rows)))
    others = [row for row in rows[::-1] if int(row[0][-1]) % 2]
    assert kept(others, 1, values) == Counter(row for row in others if row in everybody)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_every_order_of_five_rows_with_one_rank_keeps_the_least_by_content(values):
    rows = [("p", 2, 0), ("p", 0, 1), ("p", 0, 1), ("p", 0, 0), ("p", 1, 2)]
    with patch.object(ranks, "_mix_bits", HASHES["constant"]):
        found = [kept(order, 3, values) for order in permutations(rows)]
    assert all(each == found[0] for each in found)
    least = Counter([("p", 0, 0), ("p", 0, 1), ("p", 0, 1)])
    # By their bytes, negative numbers come last.
    assert found[0] == least


@pytest.mark.parametrize("hashed", HASHES.values(), ids=HASHES)
@given(rows=rows_of_people, max_rows=st.integers(1, 4))
def test_rows_that_pack_into_a_word_are_ordered_as_by_their_bytes(hashed, rows, max_rows):
    with patch.object(ranks, "_mix_bits", hashed):
        packed = kept(rows, max_rows, VALUES["codes"])
        with patch.object(ranks, "pack_content", lambda content: None):
            assert kept(rows, max_rows, VALUES["codes"]) == packed


def passes_over(frame, names, max_rows):
    """Return how often the rows are read to decide which of them count."""
    source, passes = open_rows(frame[[*names, "who"]], id_column="who", block_rows=3), []
    parts = source.parts

    def counted(count=1):
        return [_Counting(part, passes) for part in parts(count)]

    with patch.object(source, "parts", counted):
        limit_rows_per_person(
            source, Person("who", max_rows), numbers_of, np.random.SeedSequence(0)
        ).parts()
    return len(passes)


class _Counting:
    def __init__(self, part, passes):
        self._part, self._passes = part, passes

    def blocks(self):
        self._passes.append(1)
        return self._part.blocks()


def test_rows_are_read_once_more_only_where_the_limit_cuts_through_equal_words():
    numbers = {"a": [0.1] * 4 + [0.2], "b": [0.3] * 4 + [0.4]}
    repeated = pd.DataFrame(numbers).assign(who=list("ppppq"))
    assert passes_over(repeated, ["a", "b"], 2) == 2
    assert passes_over(repeated, ["a", "b"], 4) == 1
    assert passes_over(repeated.assign(b=np.arange(5) / 7), ["a", "b"], 2) == 1
    # One column, and small whole numbers, are told apart by a word.
    assert passes_over(repeated, ["a"], 2) == 1
    assert passes_over(repeated.assign(a=7, b=[1, 1, 1, 1, 2]), ["a", "b"], 2) == 1


def test_rows_that_differ_pack_into_different_words():
    edge = 2.0**32
    tables = {
        "whole": np.array([[0, 1], [1, 0], [1, 1], [2**32 - 1, 0], [0, 2**32 - 1]]),
        "whole floats": np.array([[0, 1], [1, 0], [edge - 1, 0], [0, edge - 1.0]]),
        "too large": np.array([[0.0, edge], [1.0, 0.0]]),
        "fractions": np.array([[0.25, 0.0], [0.5, 0.0]]),
        "negative": np.array([[0, -1], [1, -1], [0, 2]]),
        "one column": np.array([[0.25], [0.5], [-1.0]]),
        "many columns": np.eye(70),
    }
    fitting = {name for name, table in tables.items() if ranks.pack_content(table) is not None}
    assert fitting == {"whole", "whole floats", "one column"}
    for name in fitting:
        assert len(set(ranks.pack_content(tables[name]).tolist())) == len(tables[name])


def test_the_two_zeros_are_one():
    """No view tells them apart, so they must not be ranked apart either."""
    chosen = set()
    for zeros in ([0.0, -0.0], [-0.0, 0.0], [0.0, 0.0]):
        content = np.array([[zero, 0.5] for zero in zeros] + [[1.0, 0.5], [2.0, 0.5]])
        kept_rows = Counter()
        for number in range(40):
            bound = ContributionBound(Person("who", 1), number.to_bytes(16))
            bound.add(TypedColumn.of(pa.array(["p"] * 4)), content)
            (mask,) = bound.kept(lambda masks: [content[masks[0]]])  # noqa: B023  # called at once
            kept_rows.update((content[mask] + 0.0)[:, 0].tolist())
        chosen.add(tuple(sorted(kept_rows.items())))
    assert len(chosen) == 1
