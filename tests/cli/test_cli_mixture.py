"""``privclust mixture``: a fit, its plan and its labels on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

SCHEMA = "[columns.x]\nlow = -1\nhigh = 1\n\n[columns.y]\nlow = -1\nhigh = 1\n"


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal([[-0.5, 0.2], [0.5, -0.3]] * 1500, 0.1).clip(-1, 1)
    pd.DataFrame(rows, columns=["x", "y"]).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


@pytest.mark.usefixtures("blank_pictures")
def test_a_mixture_is_fitted_shown_and_applied(run, folder):
    fitted = run(
        "mixture", folder / "rows.csv", "--components", 2, "--schema", folder / "schema.toml",
        "--epsilon", 1, "--shapes", "diag", "--background", "-o", folder / "out", "--json",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    told = json.dumps(json.loads(fitted.stdout))
    assert '"components"' in told
    assert '"background_weight"' in told
    run("apply", folder / "out", folder / "rows.csv", "-o", folder / "labels.csv")
    labels = pd.read_csv(folder / "labels.csv").iloc[:, -1]
    assert set(labels) <= {-1, 0, 1}
    assert (labels >= 0).mean() > 0.8


def test_the_plan_sends_few_rows_to_k_means(run, folder):
    plan = run(
        "plan", "mixture", "--components", 3, "--schema", folder / "schema.toml",
        "--epsilon", 1, "--rows", 200,
    )  # fmt: skip
    assert plan.exit_code == 0, plan.output
    assert "PrivateKMeans" in plan.output
