"""The examples of docs/schema.md run as they stand."""

import re
from pathlib import Path

from privclust.schema.schema import Schema

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    toml, _ = blocks("toml")
    Path("visits.toml").write_text(toml, encoding="utf-8")
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)  # noqa: S102
    assert capsys.readouterr().out.startswith("NOT PRIVATE")


def test_the_file_of_the_page_makes_the_round_trip():
    for toml in blocks("toml"):
        schema = Schema.from_toml(toml)
        assert Schema.from_toml(schema.to_toml()) == schema
