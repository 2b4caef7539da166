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
    assert "For 10,000 rows, an expected inertia of at most 1.1 takes ε = " in run(*options).stdout
    by_rows = run(*options, "--epsilon", 1).stdout
    assert "With ε = 1, an expected inertia of at most 1.1 takes about" in by_rows
    both = run(*options, "--epsilon", 1, "--rows", 500).stdout
    assert "For 500 rows, an expected inertia of at most 1.1 takes ε = " in both
