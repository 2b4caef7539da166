"""Sources in parts: whatever the cut, parts are the rows in their order, and they can travel."""

import os
import pickle
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Box, Categories, Person, Schema
from privclust.data.encode import writings_of
from privclust.data.people import limit_rows_per_person
from privclust.exceptions import DataError
from privclust.reading import locations as remote
from privclust.reading.declared import open_declared
from privclust.reading.files import runs
from privclust.reading.locations import without_secrets
from privclust.reading.opening import open_rows
from support.blocks import block_numbers, block_values
from support.in_parts import parquet_folder

FRAME = pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0) ** 2, "who": np.arange(30) // 4})


def numbers(parts):
    return np.concatenate(
        [block_numbers(block) for part in parts for block in part.blocks()]
    ).tolist()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 50))
def test_runs_are_all_pieces_in_their_order(sizes, count):
    pieces = list(enumerate(sizes))
    cut = runs(pieces, count, lambda piece: piece[1])
    assert [piece for run in cut for piece in run] == pieces
    assert all(cut)
    assert len(cut) <= count


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_parts_of_parquet_files_are_cut_between_row_groups(count, tmp_path):
    folder = parquet_folder(FRAME, tmp_path / "rows", n_files=3, row_group=4)
    with open_rows(folder, ["y", "x"], ignore=["who"]) as source:
        parts = pickle.loads(pickle.dumps(source.parts(count)))
        assert numbers(parts) == FRAME[["y", "x"]].to_numpy().tolist()
        assert len(parts) == min(count, 9)
        assert sum(part.n_rows for part in parts) == 30


@pytest.mark.parametrize("suffix", ["csv", "arrow"])
def test_csv_and_arrow_files_stay_whole(suffix, tmp_path):
    for start in (0, 10, 20):
        part, path = FRAME[start : start + 10], tmp_path / f"{start}.{suffix}"
        if suffix == "csv":
            part.to_csv(path, index=False)
        else:
            with pa.OSFile(str(path), "wb") as file:
                table = pa.Table.from_pandas(part, preserve_index=False)
                with pa.ipc.new_file(file, table.schema) as writer:
                    writer.write_table(table)
    with open_rows(tmp_path, ["x", "y", "who"]) as source:
        parts = pickle.loads(pickle.dumps(source.parts(8)))
        assert numbers(parts) == FRAME.to_numpy().tolist()
        assert len(parts) == 3


def test_chosen_rows_of_people_do_not_depend_on_the_cut(tmp_path):
    folder, unit = parquet_folder(FRAME, tmp_path / "rows", row_group=4), Person("who", 2)
    found = []
    for count in (1, 5):
        with open_rows(folder, ["x", "y"], id_column="who") as source:
            chosen = limit_rows_per_person(
                source, unit, lambda block: block_numbers(block), np.random.SeedSequence(1)
            )
            parts = pickle.loads(pickle.dumps(chosen.parts(count)))
            found.append(numbers(parts))
            assert sum(part.n_rows for part in parts) == len(found[-1])
            assert [
                row for block in chosen.blocks() for row in block_numbers(block).tolist()
            ] == found[0]
    assert found[0] == found[1]


def test_declared_forms_travel_with_the_parts(tmp_path):
    days = pd.to_datetime(["2024-01-01", "2024-01-03"])
    pq.write_table(pa.table({"day": pa.array(days).cast(pa.date32())}), tmp_path / "d.parquet")
    schema = Schema({"day": Box("2024-01-01", "2024-12-31", form="date")})
    with open_declared(tmp_path, schema) as source:
        parts = pickle.loads(pickle.dumps(list(source.parts(2))))
        writings = writings_of(schema)
        blocks = [block_numbers(b, writings=writings) for part in parts for b in part.blocks()]
        first, second = np.concatenate(blocks)[:, 0]
        assert second - first == 2


class TestPartitions:
    @pytest.fixture
    def folder(self, tmp_path):
        for year, place in (("2023", "r%C3%A9gion"), ("2024", "07")):
            below = tmp_path / f"year={year}" / f"place={place}"
            below.mkdir(parents=True)
            pq.write_table(pa.table({"x": [float(year)]}), below / "0.parquet")
        hidden = tmp_path / "_old"
        hidden.mkdir()
        (hidden / "1.parquet").touch()
        return tmp_path

    def test_names_of_folders_are_columns(self, folder):
        schema = Schema(
            {"x": Box(0, 3000), "year": Box(2000, 2030), "place": Categories(["région", "07"])}
        )
        with open_declared(folder, schema) as source:
            blocks = [block for part in source.parts(2) for block in part.blocks()]
            years = np.concatenate([block_numbers(block, ["x", "year"]) for block in blocks])
            places = [
                p for block in blocks for p in block_values(block, "place", "text").to_pylist()
            ]
        assert years.tolist() == [[2023, 2023], [2024, 2024]]
        assert places == ["région", "07"]

    def test_one_that_is_not_declared_is_refused_like_any_column(self, folder):
        with pytest.raises(DataError, match=r"'(place|year)', '(place|year)'"):
            open_declared(folder, Schema({"x": Box(0, 3000)}))


class TestAddresses:
    def test_a_uri_of_a_file_a_folder_and_a_pattern(self, tmp_path):
        parquet_folder(FRAME, tmp_path)
        expected = FRAME.to_numpy().tolist()
        for uri in (tmp_path.as_uri(), f"{tmp_path.as_uri()}/*.parquet"):
            with open_rows(uri) as source:
                assert numbers(source.parts(3)) == expected

    def test_secrets_of_a_uri_are_not_shown(self):
        uri = "s3://key:secret@bucket/rows/?endpoint_override=x"
        assert without_secrets(uri) == "s3://bucket/rows/"
        with (
            patch.object(remote, "_store", side_effect=OSError("secret")),
            pytest.raises(DataError) as caught,
        ):
            open_rows(uri)
        assert "secret" not in str(caught.value)
        assert "'s3://bucket/rows/' cannot be read" in str(caught.value)

    def test_a_scheme_that_nobody_knows_is_told(self):
        with pytest.raises(DataError, match=r"'nowhere://rows' cannot be read"):
            open_rows("nowhere://rows")


def test_a_file_that_changes_while_it_is_open_is_noticed(tmp_path):
    path = parquet_folder(FRAME, tmp_path, n_files=1) / "0.parquet"
    with open_rows(path) as source:
        list(source.blocks())
        os.utime(path, ns=(0, 0))
        with pytest.raises(DataError, match=r"is not the same as before: the data changed"):
            list(source.blocks())
        path.unlink()
        with pytest.raises(DataError, match="is no longer there"):
            list(source.blocks())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_changes_during_a_pass_spoils_that_pass(suffix, tmp_path):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        FRAME.to_csv(path, index=False)
    else:
        FRAME.to_parquet(path)
    with open_rows(path, block_rows=7) as source:
        blocks = source.blocks()
        next(blocks)
        os.utime(path, ns=(0, 0))
        with pytest.raises(DataError, match=r"is not the same as before: the data changed"):
            list(blocks)
