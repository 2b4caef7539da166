"""The check of wheels and source archives finds what is missing and what does not belong there."""

from __future__ import annotations

import pytest

from wheels import check


@pytest.fixture(scope="module")
def packaged():
    return check.packaged()


def test_the_package_has_more_than_python(packaged):
    suffixes = {name.rpartition(".")[2] for name in packaged}
    assert {"py", "pyi", "typed", "sql", "j2", "css"} <= suffixes


def test_a_complete_wheel_has_no_problem(packaged):
    assert check.problems_of_wheel({*packaged, "privclust-0.2.0.dist-info/METADATA"}) == []


def test_a_file_too_few_or_too_many_in_a_wheel_is_named(packaged):
    found = check.problems_of_wheel({*packaged, "tests/secret.py"} - {"privclust/py.typed"})
    assert found == [
        "the wheel lacks privclust/py.typed",
        "the wheel should not hold tests/secret.py",
    ]


def test_a_file_too_few_in_a_source_archive_is_named(packaged):
    whole = {f"privclust-0.2.0/src/{name}" for name in packaged}
    whole |= {f"privclust-0.2.0/{name}" for name in check.WANTED}
    assert check.problems_of_sdist(whole) == []
    missing = whole - {"privclust-0.2.0/LICENSE"}
    assert check.problems_of_sdist(missing) == ["the source archive lacks LICENSE"]
