"""Rows in files and streams: several files, bounded memory, CSV as people write it, spooling."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust.reading.opening import open_rows
from support.blocks import block_numbers, block_values


def numbers(source):
    return np.concatenate([block_numbers(block) for block in source.blocks()])


class TestStreams:
    def spooled(self, folder):
        """Return the open or named files of spools; one without a name says so itself."""
        open_files = [link for link in Path("/proc/self/fd").glob("*") if link.is_symlink()]
        return [
            *folder.glob("privclust-*"),
            *(link for link in open_files if f"{folder}/privclust-" in str(link.readlink())),
        ]

    @pytest.fixture(params=["unnamed", "named"])
    def folder(self, request, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        if request.param == "named":  # as on systems that cannot open a file without a name
            monkeypatch.setattr(Path, "exists", lambda self: False)
        elif not Path("/proc/self/fd").exists():
            pytest.skip("This system opens files by name only.")
        return tmp_path

    def test_a_killed_process_leaves_nothing_behind(self, tmp_path):
        if not Path("/proc/self/fd").exists():
            pytest.skip("This system opens files by name only.")
        code = (
            "import os, pyarrow as pa; from privclust.reading import open_rows;"
            "source = open_rows(pa.table({'x': [1]}).to_reader());"
            "print(len(list(source.blocks()))); os.kill(os.getpid(), 9)"
        )
        command, environment = [sys.executable, "-c", code], {**os.environ, "TMPDIR": str(tmp_path)}
        killed = subprocess.run(command, env=environment, capture_output=True)  # noqa: S603
        assert killed.returncode == -9
        assert not list(tmp_path.iterdir())

    def test_a_stream_is_kept_for_further_passes_and_removed(self, folder):
        reader = pa.table({"x": [1, 2, 3], "name": ["a", "b", "c"]}).to_reader()
        source = open_rows(reader, ["x"], ignore=["name"])
        assert not self.spooled(folder)  # opening reads no row
        assert numbers(source)[:, 0].tolist() == numbers(source)[:, 0].tolist() == [1, 2, 3]
        (file,) = self.spooled(folder)
        assert file.stat().st_mode & 0o077 == 0  # for its owner alone
        assert pq.read_schema(file).names == ["x"]  # and with nothing that was not asked for
        source.close()
        assert not self.spooled(folder)

    def test_a_forgotten_stream_is_removed_as_well(self, folder):
        source = open_rows(pl.LazyFrame({"x": [1.0]}))
        numbers(source)
        assert self.spooled(folder)
        del source
        assert not self.spooled(folder)


class TestFiles:
    def test_a_directory_and_a_list_of_parquet_files(self, tmp_path):
        pq.write_table(pa.table({"x": [3.0], "y": [4]}), tmp_path / "b.parquet")
        pq.write_table(pa.table({"y": [2], "x": [1]}), tmp_path / "a.parquet")
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / ".hidden.parquet").touch()
        source = open_rows(tmp_path, ["y", "x"])
        assert numbers(source).tolist() == [[2, 1], [4, 3]]
        assert source.n_rows == 2
        files = [tmp_path / "b.parquet", str(tmp_path / "a.parquet")]
        assert numbers(open_rows(files, ["x"], ignore=["y"]))[:, 0].tolist() == [3, 1]

    def test_parquet_names_with_dots(self, tmp_path):
        pq.write_table(pa.table({"a.b": [1], "a": [2], "c": [{"a": 3}]}), tmp_path / "x.parquet")
        source = open_rows(tmp_path / "x.parquet", ["a", "a.b"], ignore=["c"])
        assert numbers(source).tolist() == [[2, 1]]

    def test_parquet_memory_does_not_grow_with_the_file(self, tmp_path):
        rows, path = np.random.default_rng(0).random(2_000_000), tmp_path / "x.parquet"
        pq.write_table(pa.table({"x": rows}), path, row_group_size=len(rows))
        before, most = pa.total_allocated_bytes(), 0
        for block in open_rows(path, block_rows=10_000).blocks():
            assert block.n_rows == 10_000
            most = max(most, pa.total_allocated_bytes() - before)
        assert most < rows.nbytes / 3

    def read_csv(self, tmp_path, content, **options):
        path = tmp_path / "x.csv"
        path.write_bytes(content)
        return next(open_rows(path, **options).blocks())

    def test_csv_ways_to_write_numbers(self, tmp_path):
        content = b"x\n1\n 2.5 \n1e3\n-inf\nTrue\nfalse\nNA\nnan\nnull\nN/A\n"
        expected = [1, 2.5, 1000, -np.inf, 1, 0, *[np.nan] * 4]
        block = self.read_csv(tmp_path, content)
        np.testing.assert_array_equal(block_numbers(block)[:, 0], expected)

    def test_csv_text_stays_text(self, tmp_path):
        block = self.read_csv(tmp_path, b'a,b\n007,NA\n,""\n"x,\ny",\xc3\xa4\n')
        assert block_values(block, "a", "text").to_pylist() == ["007", None, "x,\ny"]
        assert block_values(block, "b", "text").to_pylist() == ["NA", "", "ä"]

    def test_csv_categories_of_other_kinds(self, tmp_path):
        block = self.read_csv(tmp_path, b"n,yes\n1,true\n 2,False\nNA,\n")
        assert block_values(block, "n", "integer").to_pylist() == [1, 2, None]
        assert block_values(block, "yes", "boolean").to_pylist() == [True, False, None]

    def test_csv_with_mark_blank_lines_and_other_line_ends(self, tmp_path):
        block = self.read_csv(tmp_path, b"\xef\xbb\xbfx,y\r\n1,2\r\n\r\n3,4")
        assert block.names == ("x", "y")
        assert block_numbers(block).tolist() == [[1, 2], [3, 4]]

    def test_csv_numbers_may_change_their_form_late_in_the_file(self, tmp_path):
        lines = ["1"] * 400_000 + ["2.5", "NA"]
        (tmp_path / "x.csv").write_text("x,y\n" + "".join(f"{line},padding\n" for line in lines))
        source = open_rows(tmp_path / "x.csv", ["x"], ignore=["y"])
        rows = numbers(source)[:, 0]
        assert rows[:400_000].sum() == 400_000
        np.testing.assert_array_equal(rows[400_000:], [2.5, np.nan])
