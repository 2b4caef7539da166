"""Every run of a test is the same run: no test passes or fails by luck.

Fits without a seed draw from the operating system. Here those words come from the name of the test
(or of the fixture that more than one test shares), and a generator that a module of tests keeps
begins anew for each of them, so that neither chance nor the order of the tests decides.

A test of the system's words themselves is marked ``system_bits``. Processes that a test starts draw
from the system as usual, and so does every test under ``--luck``: what a nightly run is for.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from hashlib import blake2b
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from privclust.privacy.noise.bits import SeededBits, SystemBits

__all__ = ["Repeatable"]


class Repeatable:
    """A plugin that gives each test, and each shared fixture, words of its own."""

    def __init__(self) -> None:
        self._bits: SeededBits | None = None
        self._system_words = SystemBits.words
        self._first_states: dict[int, Any] = {}
        setattr(SystemBits, "words", lambda _, count: self._words(count))  # noqa: B010

    def _words(self, count: int) -> Any:
        if self._bits is None:
            return self._system_words(SystemBits(), count)
        return self._bits.words(count)

    @pytest.hookimpl(tryfirst=True)
    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember how the generators of the test's module begin."""
        for generator in _generators(item):
            self._first_states.setdefault(id(generator), generator.bit_generator.state)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Let a test draw words that only its name decides."""
        with self._named(item, "" if item.get_closest_marker("system_bits") else item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Let a fixture that tests share draw words that only its own name decides."""
        if fixturedef.scope == "function":
            return (yield)
        name = f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param', '')}]"
        with self._named(request.node, name):
            return (yield)

    @contextmanager
    def _named(self, node: Any, name: str) -> Generator[None]:
        before = self._bits
        seed = int.from_bytes(blake2b(name.encode(), digest_size=16).digest())
        self._bits = SeededBits(seed) if name else None
        states = [(it, it.bit_generator.state) for it in _generators(node)]
        for generator, _ in states:
            generator.bit_generator.state = self._first_states[id(generator)]
        try:
            yield
        finally:
            self._bits = before
            for generator, state in states:
                generator.bit_generator.state = state


def _generators(node: Any) -> list[np.random.Generator]:
    module = getattr(node, "module", None)
    kept = vars(module).values() if isinstance(module, ModuleType) else ()
    return [it for it in kept if isinstance(it, np.random.Generator)]
