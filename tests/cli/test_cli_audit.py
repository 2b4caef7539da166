"""``privclust audit``: what keeps its promise is not refuted, what does not is."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from privclust.audit.runner import is_estimator, takes_rng
from privclust.cli import audit as command
from privclust.cli.audit import SUBJECTS, audit_subject
from support.command_line import Run


@pytest.mark.audit
def test_a_published_algorithm_that_is_not_private_is_found_out(run: Run) -> None:
    options = ("--epsilon", "0.5", "--runs", "300", "--jobs", "1")
    result = run("audit", "subcluster-guarantee", *options)
    assert result.exit_code == 1
    assert result.stdout.startswith("Privacy claim violated: ε = 0.5\n")


@pytest.mark.audit
def test_a_private_algorithm_is_not_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fit, pairs = audit_subject("kmeans", 5.0, 0.0)
    fit.set_params(method="lloyd", n_clusters=1)
    monkeypatch.setattr(
        command, "audit_subject", lambda *_, **__: (fit, pairs[:1])
    )  # each takes a while
    # At a large ε nothing honest can be refuted, so that chance does not decide the test.
    result = run("audit", "kmeans", "--epsilon", "5", "--runs", "300", "--jobs", "1", "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["verdict"] == "not refuted"
    assert document["epsilon_lower"] <= document["epsilon"] == 5


@pytest.mark.parametrize("subject", SUBJECTS)
def test_exact_transcripts_find_no_fault_but_in_what_is_not_private(run: Run, subject: str) -> None:
    result = run("audit", subject, "--exact", "--epsilon", "1", "--json")
    document = json.loads(result.stdout)
    if subject == "subcluster-guarantee":
        assert (result.exit_code, document["verdict"]) == (1, "violated")
        assert document["epsilon_found"] is None
        assert document["faults"]
    else:
        assert (result.exit_code, document["verdict"], document["faults"]) == (0, "kept", [])
        assert 0 < document["epsilon_found"] <= 1


def test_an_exact_audit_is_shown_in_a_few_lines(run: Run) -> None:
    result = run("audit", "kmeans", "--exact", "--epsilon", "1")
    assert "Claim kept on this pair: ε = 1" in result.stdout
    assert "exactly added up" in result.stdout


@pytest.mark.parametrize("subject", ["kmeans", "cocluster", "categorical", "source-target"])
def test_every_subject_can_be_fitted_on_both_sides_of_all_its_pairs(subject: str) -> None:
    fit, pairs = audit_subject(subject, 1.0, 1e-6)
    assert len(pairs) >= 3
    for pair in pairs:
        for rows in (pair.left, pair.right):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if callable(fit):
                    assert fit(rows, rng=np.random.default_rng()) is not None
                else:
                    assert clone(fit).fit(rows).privacy_


def test_every_subject_may_run_in_several_processes() -> None:
    for subject in SUBJECTS:
        fit, _ = audit_subject(subject, 1.0, 1e-6)
        assert is_estimator(fit) or takes_rng(fit)


def test_too_few_runs_are_wrong_usage(run: Run) -> None:
    result = run("audit", "kmeans", "--runs", "10")
    assert result.exit_code == 2
    assert "--runs" in result.stderr
