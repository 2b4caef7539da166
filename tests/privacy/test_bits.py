"""Secure bits never repeat, whatever is done to the object that draws them; seeded bits do."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from privclust.privacy.noise.bits import SeededBits, SystemBits
from privclust.privacy.noise.exact import ExactNoise

WORDS = 500

pytestmark = pytest.mark.system_bits


def draw_words(noise: ExactNoise) -> list[int]:
    return noise.bits.words(WORDS).tolist()


def in_child(noise: ExactNoise, queue) -> None:
    queue.put(draw_words(noise))


def test_forked_children_never_repeat_a_draw():
    noise = ExactNoise()
    draw_words(noise)  # a warm object is what a fork would copy
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(noise, queue)) for _ in range(6)]
    for child in children:
        child.start()
    drawn = [draw_words(noise), *(queue.get(timeout=60) for _ in children)]
    for child in children:
        child.join()
    assert_all_different(drawn)


def test_pickles_and_copies_never_repeat_a_draw():
    noise = ExactNoise()
    twins = [pickle.loads(pickle.dumps(noise)), copy.deepcopy(noise), copy.copy(noise), noise]
    assert_all_different([draw_words(twin) for twin in twins])


def test_threads_never_repeat_a_draw():
    noise = ExactNoise()
    with ThreadPoolExecutor(8) as pool:
        assert_all_different(list(pool.map(lambda _: draw_words(noise), range(64))))


def test_the_check_itself_sees_a_repeated_draw():
    """A seeded source does repeat after a pickle, so the tests above can fail."""
    noise = ExactNoise(SeededBits(1))
    twins = [pickle.loads(pickle.dumps(noise)), noise]
    drawn = [draw_words(twin) for twin in twins]
    assert drawn[0] == drawn[1]


def assert_all_different(drawn: list[list[int]]) -> None:
    words = [word for words in drawn for word in words]
    assert len(set(words)) == len(words)  # 64-bit words repeat by chance once in 10^9 runs


def test_a_seed_reproduces_every_sampler():
    first, second = (ExactNoise(SeededBits(7)) for _ in range(2))
    scores = np.arange(60).reshape(10, 6)
    assert first.laplace(Fraction(3), 99).tolist() == second.laplace(Fraction(3), 99).tolist()
    assert first.top_k_rows(scores, Fraction(9), 3).tolist() == (
        second.top_k_rows(scores, Fraction(9), 3).tolist()
    )


def test_sources_say_whether_they_protect_people():
    assert ExactNoise().private
    assert ExactNoise(SystemBits()).private
    assert not ExactNoise(SeededBits(0)).private
    assert "NOT PRIVATE" in repr(SeededBits(0))
