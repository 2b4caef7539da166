"""The Python client of the service, and the command line on top of it."""

from __future__ import annotations

import io
import json
import re
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pandas as pd
import pytest

from privclust import Person, PrivateDilca, PrivateKMeans
from privclust.cli.commands import app
from privclust.service.remote import RemoteDataset, RemoteError
from service.browser import ORIGIN, Browser, services_on
from service.clocks import later, run_one
from service.serving import SCHEMA, Serving
from service.test_service_api import Api
from support.command_line import CliRunner


# The client.
@pytest.fixture
def connected(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> Api:
    """Let the client's requests reach the application without a network."""
    api = Api(serving)

    def opened(request: Any, timeout: float) -> Any:
        parts = urlsplit(request.full_url)
        answer = api.client.request(
            request.get_method(), parts.path, content=request.data, headers=request.headers
        )
        if answer.status_code >= 400:
            body = io.BytesIO(answer.content)
            raise HTTPError(request.full_url, answer.status_code, "", None, body)  # type: ignore[arg-type]
        return io.BytesIO(answer.content)

    monkeypatch.setattr(
        "privclust.service.remote.build_opener", lambda *_: SimpleNamespace(open=opened)
    )
    return api


def test_a_remote_data_set_is_fitted_with_an_estimator(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = RemoteDataset(f"{ORIGIN}/datasets/{serving.visits.id}", connected.token)

    def wait(seconds: float) -> None:
        run_one(serving.database, serving.settings)
        later()

    model = PrivateDilca(epsilon=0.5)
    assert data.plan(model)["cost"] == "ε = 0.5"
    release = data.fit(model, wait=wait)
    assert (release.kind, str(release.privacy.epsilon)) == ("categorical", "1/2")
    assert data.about()["balance"][0]["left"] == "ε = 1.5"


def test_the_python_of_the_analysts_guide_runs(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "service" / "analyst.md"
    (code,) = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)

    def wait(seconds: float) -> None:
        run_one(serving.database, serving.settings)
        later()

    monkeypatch.setattr("privclust.service.remote.time.sleep", wait)
    own = pd.DataFrame({"age": [1.0, 90.0], "cost": [1.0, 9.0]})
    names: dict[str, Any] = {"token": connected.token, "my_own_rows": own}
    exec(code.replace("0f3a", serving.visits.id), names)  # noqa: S102
    assert names["release"].predict(own).shape == (2,)


@pytest.mark.parametrize(
    "model",
    [
        PrivateKMeans(random_state=1),
        PrivateKMeans(bounds=(0, 1)),
        PrivateKMeans(unit=Person("who", 1)),
        PrivateKMeans(schema=SCHEMA),
    ],
)
def test_what_is_the_services_cannot_be_given(
    serving: Serving, connected: Api, model: PrivateKMeans
) -> None:
    data = RemoteDataset(f"{ORIGIN}/datasets/{serving.visits.id}", connected.token)
    with pytest.raises(RemoteError, match="leave it out"):
        data.fit(model)


def test_a_refusal_arrives_as_its_sentence(serving: Serving, connected: Api) -> None:
    data = RemoteDataset(f"{ORIGIN}/datasets/{serving.visits.id}", connected.token)
    with pytest.raises(RemoteError, match="does not cover"):
        data.fit(PrivateKMeans(epsilon=50))


def test_a_token_is_never_sent_in_the_clear() -> None:
    with pytest.raises(RemoteError, match="https"):
        RemoteDataset("http://clusters.example.org/datasets/1", "token")


def test_the_command_line_lists_and_plans(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVCLUST_TOKEN", connected.token)
    listed = CliRunner().invoke(app, ["remote", "datasets", ORIGIN])
    assert f"{ORIGIN}/datasets/{serving.visits.id}, left: ε = 2" in listed.stdout
    place = f"{ORIGIN}/datasets/{serving.visits.id}"
    planned = CliRunner().invoke(
        app, ["remote", "plan", place, "--family", "distances", "--epsilon", "1", "--json"]
    )
    assert json.loads(planned.stdout)["covered"]


def test_the_command_line_asks_waits_and_writes_the_release(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wait(seconds: float) -> None:
        run_one(serving.database, serving.settings)
        later()

    monkeypatch.setenv("PRIVCLUST_TOKEN", connected.token)
    monkeypatch.setattr("privclust.service.remote.time.sleep", wait)
    place, output = f"{ORIGIN}/datasets/{serving.visits.id}", tmp_path / "answer"
    said = ["--family", "distances", "--option", "context_size=1", "--epsilon", "0.5"]
    said += ["--column", "sex", "--column", "ward"]
    ran = CliRunner().invoke(app, ["remote", "ask", place, *said, "-o", str(output)])
    assert ran.exit_code == 0, ran.output
    assert "ε = 0.5" in ran.stdout
    assert "ward" in ran.stdout  # what was learned is listed, as after a fit
    assert {"release.json", "report.html"} <= {file.name for file in output.iterdir()}
    again = CliRunner().invoke(
        app, ["remote", "ask", place, *said, "-o", str(tmp_path / "again"), "--json"]
    )
    answer = json.loads(again.stdout)
    assert (answer["private"], answer["free"]) == (True, True)
    listed = CliRunner().invoke(app, ["remote", "jobs", ORIGIN, "--json"])
    (job,) = json.loads(listed.stdout)["jobs"]
    assert (job["state"], job["asked"]["context_size"]) == ("done", 1)
    assert "done" in CliRunner().invoke(app, ["remote", "jobs", ORIGIN]).stdout
    assert len(serving.charges()) == 1


def test_the_command_line_chooses_among_public_points(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVCLUST_TOKEN", connected.token)
    (tmp_path / "towns.csv").write_text("age,cost\n10,1\n50,5\n90,9\n")
    place = f"{ORIGIN}/datasets/{serving.visits.id}"
    said = ["--family", "source-target", "-k", "2", "--target", str(tmp_path / "towns.csv")]
    planned = CliRunner().invoke(app, ["remote", "plan", place, *said, "--json"])
    assert json.loads(planned.stdout)["covered"], planned.output
    for wrong in (["--option", "method"], ["--option", "method=magic"], ["-k", "x"]):
        refused = CliRunner().invoke(app, ["remote", "plan", place, *wrong])
        assert refused.exit_code != 0
        assert len(refused.stderr.strip().splitlines()) == 1


def test_a_refused_command_is_told_in_one_sentence_and_charges_nothing(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place, output = f"{ORIGIN}/datasets/{serving.visits.id}", str(tmp_path / "answer")
    without = CliRunner(env={"PRIVCLUST_TOKEN": ""}).invoke(app, ["remote", "jobs", ORIGIN])
    assert "PRIVCLUST_TOKEN" in without.stderr
    monkeypatch.setenv("PRIVCLUST_TOKEN", connected.token)
    broke = CliRunner().invoke(app, ["remote", "ask", place, "--epsilon", "50", "-o", output])
    assert "does not cover" in broke.stderr
    elsewhere = CliRunner().invoke(app, ["remote", "ask", ORIGIN, "-o", output])
    assert "address of a data set" in elsewhere.stderr
    assert serving.charges() == []


def test_stewards_manage_users_from_the_command_line(
    serving: Serving, connected: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = serving.accounts.add_token(serving.steward, "program", "steward", 1)
    monkeypatch.setenv("PRIVCLUST_TOKEN", token)

    def users(*said: str) -> str:
        ran = CliRunner().invoke(app, ["remote", "users", ORIGIN, *said])
        return ran.stdout if ran.exit_code == 0 else ran.stderr

    made = users("--add", "Zoë Q", "--role", "auditor")
    password = made.strip().rpartition(" ")[2]
    assert serving.accounts.sign_in("Zoë Q", password)
    assert "Zoë Q: auditor\n" in users()
    assert users("--reset", "Zoë Q").strip().rpartition(" ")[2] != password
    assert "Zoë Q: auditor, closed" in users("--close", "Zoë Q")
    assert "Zoë Q: auditor\n" in users("--open", "Zoë Q")
    assert "your own account" in users("--close", "sue")
    assert "one user at a time" in users("--close", "ann", "--open", "ann")
    monkeypatch.setenv("PRIVCLUST_TOKEN", connected.token)
    assert "scope" in users()
    assert "scope" in users("--add", "eve")


def test_a_steward_sees_how_far_a_job_is_and_an_analyst_does_not(serving: Serving) -> None:
    from privclust.service.worker import Worker

    worker = Worker(serving.settings)
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings, worker._progress)
    assert worker.progress(answer.job_id).startswith("40 ")
    assert worker.progress("another") == ""
    serving.database.write("UPDATE service_jobs SET state = 'running', finished_at = NULL")
    seen = {}
    for name in ("sue", "ann"):
        services = services_on(serving)
        services.worker = worker
        browser = Browser(services)
        browser.sign_in(name)
        seen[name] = browser.get(f"/jobs/{answer.job_id}").text
    assert "40 of 40 rows read" in seen["sue"] or "40 rows read" in seen["sue"]
    assert "rows read" not in seen["ann"]


def test_a_port_that_is_taken_is_told_before_a_password_is_shown(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port, database = str(taken.getsockname()[1]), tmp_path / "service.db"
        said = ["serve", "--port", port, "--data", str(tmp_path), "--database", str(database)]
        refused = CliRunner().invoke(app, said)
    assert "choose another with --port" in refused.stderr
    assert "password" not in refused.stdout
    assert not database.exists()
