"""``privclust plan --target``: ε, or rows, from the error that is wanted."""

from __future__ import annotations

from support.command_line import Run


def test_the_command_line_finds_either(run: Run) -> None:
    options = (
        "plan",
        "kmeans",
        "--bounds",
        0,
        1,
        "--columns",
        2,
        "-k",
        3,
        "--target",
        "inertia 1.1",
    )
    wanted = "to get an expected inertia of at most 1.1 takes"
    assert f"For 10,000 rows, {wanted} ε = " in run(*options).stdout
    by_rows = run(*options, "--epsilon", 1).stdout
    assert f"With ε = 1, {wanted} about" in by_rows
    both = run(*options, "--epsilon", 1, "--rows", 500).stdout
    assert f"For 500 rows, {wanted} ε = " in both
