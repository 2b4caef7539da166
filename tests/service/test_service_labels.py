"""Rows that somebody uploads cost the server nothing, whatever they unpack to."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust.service.errors import ServiceError, TooManyError
from privclust.service.labelling import Labeller, Limits
from service.browser import ORIGIN, message, signed_in
from service.clocks import run_one
from service.serving import Serving


@pytest.fixture
def release(serving: Serving) -> bytes:
    """The file of a release of numbers and categories."""
    question = serving.question(family="kmeans", clusters=2, columns=["age", "sex"])
    answer = serving.jobs.ask(serving.ann, serving.visits, question)
    run_one(serving.database, serving.settings)
    job = serving.jobs.one(answer.job_id, serving.ann)
    return serving.releases.file(job.release_id or "", serving.ann)


def parquet(n_rows: int, length: int) -> bytes:
    """Return rows whose categories are long texts, each stored once."""
    text = pa.array(["x" * length])
    sex = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, dtype=np.int32)), text)
    file = io.BytesIO()
    table = pa.table({"age": pa.array(np.ones(n_rows)), "sex": sex})
    pq.write_table(table, file, compression="zstd", store_schema=False)
    return file.getvalue()


# In a process of its own, whose largest child is the one that labels and not that of another test.
LABEL = """
import resource, sys
from pathlib import Path

from privclust.service.errors import ServiceError
from privclust.service.labelling import Labeller, Limits

release, rows = (Path(path).read_bytes() for path in sys.argv[1:])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    Labeller(Limits()).labels(release, rows, "rows.parquet")
except ServiceError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_a_small_file_of_gigabytes_is_refused_and_the_server_stays_small(
    release: bytes, tmp_path: Path
) -> None:
    rows = parquet(200_000, 20_000)
    assert len(rows) < 10_000
    given = {"release": release, "rows": rows}
    for name, content in given.items():
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", LABEL, *(str(tmp_path / name) for name in given)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    refusal, grown, child = told.stdout.splitlines()
    assert "send fewer rows" in refusal
    assert int(grown) < 100_000  # kilobytes
    assert 50_000 < int(child) < 1_200_000


def test_as_many_rows_as_allowed_are_labelled_and_no_more(release: bytes) -> None:
    labeller = Labeller(Limits(rows=50))
    assert len(labeller.labels(release, parquet(50, 1), "rows.parquet").split()) == 51
    with pytest.raises(ServiceError, match="At most 50 rows"):
        labeller.labels(release, parquet(51, 1), "rows.parquet")


def test_rows_that_take_too_long_are_given_up(release: bytes) -> None:
    with pytest.raises(ServiceError, match="send fewer rows"):
        Labeller(Limits(seconds=0)).labels(release, parquet(5, 1), "rows.parquet")


def test_few_uploads_are_labelled_at_once(release: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    labeller = Labeller(Limits())

    def beside(*_: Any) -> bytes:
        """Label while this upload is labelled."""
        return labeller.labels(b"", b"", "")

    monkeypatch.setattr(labeller, "_labels_in", beside)
    with pytest.raises(TooManyError):
        labeller.labels(release, b"", "")
    monkeypatch.setattr(labeller, "_labels_in", lambda *_: b"cluster\n")
    assert labeller.labels(release, b"", "") == b"cluster\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("rows.parquet", b"not a table"), ("rows.csv", b"height\n1\n"), ("rows.npz", b"PK")],
)
def test_a_broken_upload_is_told_in_one_sentence(
    serving: Serving, release: bytes, name: str, content: bytes
) -> None:
    ann = signed_in(serving, "ann")
    (stored,) = serving.releases.visible_to(serving.ann)
    answer = ann.client.post(
        f"/releases/{stored.id}/labels",
        data={"form": ann.token(f"/releases/{stored.id}")},
        files={"rows": (name, content)},
        headers={"Origin": ORIGIN},
    )
    assert answer.status_code == 400
    assert message(answer)
    assert "temporary" not in answer.text
    assert "/tmp" not in answer.text  # noqa: S108


@pytest.fixture
def summary(serving: Serving) -> str:
    """The id of a summary with tables."""
    question = serving.question(
        family="summarise",
        epsilon="1",
        columns=["age", "sex"],
        options={"synthetic": "yes"},
    )
    answer = serving.jobs.ask(serving.ann, serving.visits, question)
    run_one(serving.database, serving.settings)
    return serving.jobs.one(answer.job_id, serving.ann).release_id or ""


def test_synthetic_rows_are_drawn_from_the_page_of_a_summary(
    serving: Serving, summary: str
) -> None:
    ann = signed_in(serving, "ann")
    shown = ann.client.get(f"/releases/{summary}").text
    assert "Noise moves the table of a column" in shown
    assert f'action="/releases/{summary}/rows"' in shown
    drawn = ann.client.get(f"/releases/{summary}/rows", params={"rows": "30", "kind": "csv"})
    assert drawn.headers["content-disposition"] == 'attachment; filename="rows.csv"'
    heading, *lines = drawn.text.split()
    assert heading.replace('"', "") == "age,sex"
    assert len(lines) == 30
    drawn = ann.client.get(f"/releases/{summary}/rows", params={"rows": "20", "kind": "parquet"})
    assert pq.read_table(io.BytesIO(drawn.content)).shape == (20, 2)


def test_a_plan_on_the_form_says_how_far_synthetic_rows_will_be_off(serving: Serving) -> None:
    ann, path = signed_in(serving, "ann"), f"/datasets/{serving.visits.id}/ask/summarise"
    asked = {"epsilon": "1", "option-synthetic": "yes"}
    expected = "Synthetic rows: noise moves the table of a column by about"
    assert expected in ann.post(path, path, act="plan", **asked).text
    live = ann.client.get(f"{path}/plan", params=asked).json()
    assert any(expected in note for note in live["notes"])


@pytest.mark.parametrize("rows", ["0", "-3", "many", "", "1000001", "9" * 30])
def test_rows_are_drawn_in_numbers_alone(serving: Serving, summary: str, rows: str) -> None:
    answer = signed_in(serving, "ann").client.get(
        f"/releases/{summary}/rows", params={"rows": rows}
    )
    assert answer.status_code == 400
    assert message(answer) == "From 1 to 1,000,000 rows are drawn at once."


def test_rows_of_what_is_no_summary_and_of_others_are_not_there(
    serving: Serving, release: bytes
) -> None:
    ann = signed_in(serving, "ann")
    (stored,) = serving.releases.visible_to(serving.ann)
    assert "Synthetic rows" not in ann.client.get(f"/releases/{stored.id}").text
    wanted = f"/releases/{stored.id}/rows?rows=5"
    assert ann.client.get(wanted).status_code == 404
    assert signed_in(serving, "bob").client.get(wanted).status_code == 404
