"""What was typed into a form that is refused is still there."""

from __future__ import annotations

import pytest

from service.browser import message, signed_in
from service.serving import Serving


def test_a_refused_registration_keeps_what_was_typed(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    typed = {
        "name": "stays & goes",
        "path": "nowhere.csv",
        "schema": '{"columns": {"age": {"low": 0, "high": 9, "missing": 0}}}',
        "unit": "person",
        "id_column": "rider",
        "max_rows": "4",
        "most_rows": "77",
    }
    answer = sue.post("/steward/register", "/steward/register", **typed)
    assert answer.status_code == 400
    assert "no such file" in message(answer)
    for text in ("stays &amp; goes", "nowhere.csv", "&#34;age&#34;", "rider", "77"):
        assert text in answer.text
    assert 'value="person" selected' in answer.text
    assert "selected" not in sue.get("/steward/register").text


@pytest.mark.parametrize(
    "wrong", [{"epsilon": "0."}, {"delta": "3"}, {"clusters": "999"}, {"columns": ["nobody"]}]
)
def test_a_refused_question_keeps_what_was_typed(serving: Serving, wrong: dict[str, str]) -> None:
    ann, form = signed_in(serving, "ann"), f"/datasets/{serving.visits.id}/ask/kmeans"
    typed = {"epsilon": "0.75", "delta": "0", "clusters": "13", "columns": ["cost"], **wrong}
    answer = ann.post(form, form, act="run", **typed)
    assert answer.status_code == 400
    assert message(answer)
    for name in ("epsilon", "delta", "clusters"):
        assert f'value="{typed[name]}"' in answer.text
    assert serving.charges() == []


@pytest.mark.parametrize(
    ("who", "path", "page", "typed"),
    [
        (
            "sue",
            "/steward/datasets/{}/grant",
            "/datasets/{}",
            {"user": "bob", "epsilon": "0.", "delta": "1e-7", "note": "for the thesis"},
        ),
        (
            "ann",
            "/datasets/{}/request",
            "/datasets/{}",
            {"epsilon": "0.", "delta": "1e-7", "reason": "for the thesis"},
        ),
        ("sue", "/steward/users", "/steward/users", {"name": "ann", "role": "auditor"}),
        ("ann", "/tokens", "/tokens", {"name": "laptop", "scope": "run", "days": "999"}),
    ],
)
def test_a_refused_form_keeps_what_was_typed(
    serving: Serving, who: str, path: str, page: str, typed: dict[str, str]
) -> None:
    browser, dataset = signed_in(serving, who), serving.visits.id
    answer = browser.post(path.format(dataset), page.format(dataset), **typed)
    assert answer.status_code in (400, 409)
    assert message(answer)
    for text in typed.values():
        assert f'value="{text}"' in answer.text or f"<option selected>{text}<" in answer.text
