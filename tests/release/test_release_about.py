"""What a publisher says about a release goes with it and changes nothing that was released."""

from __future__ import annotations

import json

import numpy as np
import pytest

from privclust import PrivateBounds
from privclust.exceptions import ReleaseError
from privclust.release.document import About
from privclust.release.release import Release
from privclust.reports.findings import sentence_of
from support.releases import as_one_sentence, make_release

pytestmark = pytest.mark.usefixtures("blank_pictures")

ABOUT = About(
    title="Patients of 2025",
    dataset="Admissions",
    holder="City hospital",
    contact="data@example.org",
    purpose="Planning of wards",
)


@pytest.mark.parametrize("name", ["folder", "file.privclust"])
def test_what_is_said_travels_with_the_release(tmp_path, name):
    make_release().with_about(ABOUT).save(tmp_path / name)
    assert Release.load(tmp_path / name).about == ABOUT


def test_what_is_said_is_no_part_of_the_digest(tmp_path):
    release = make_release()
    assert release.with_about(ABOUT).digest == release.digest
    assert release.with_about(ABOUT) == release


def test_a_report_shows_all_that_is_said_and_escapes_it():
    page = make_release().with_about(ABOUT).to_html()
    for text in ABOUT.lines.values():
        assert text in page
    evil = make_release().with_about(About(title="<script>alert(1)</script>")).to_html()
    assert "<script>" not in evil


def test_a_report_of_a_release_without_words_names_no_holder():
    assert "Contact" not in make_release().to_html()


def test_words_are_brought_to_one_line():
    assert About(title="  two\nlines\t\x00here ").title == "two lines here"
    assert About(title=" ").title is None


@pytest.mark.parametrize("words", [{"title": 3}, {"purpose": "x" * 2001}, {"names": "abc"},
                                   {"names": [1]}])  # fmt: skip
def test_what_is_no_text_is_refused(words):
    with pytest.raises(ReleaseError) as error:
        About(**words)
    as_one_sentence(error)


@pytest.mark.filterwarnings("ignore")  # two rows are few
def test_names_are_refused_where_there_is_nothing_to_name():
    with pytest.raises(ReleaseError) as error:
        PrivateBounds(random_state=0).fit([[1.0], [2.0]]).release().with_about(About(names=("a",)))
    as_one_sentence(error, "nothing to name")


def test_names_of_clusters_are_in_report_and_facts_and_must_be_as_many():
    names = ("young <b>", "rich", "old", "middle")
    named = make_release().with_about(About(names=names))
    assert "Young &lt;b&gt;" in named.to_html()
    assert [cluster["name"] for cluster in named.facts().values["clusters"]] == list(names)
    assert [line[0] for line in named.facts().listings[0].lines] == list(names)
    assert named.digest == make_release().digest
    with pytest.raises(ReleaseError) as error:
        make_release().with_about(About(names=("a", "b")))
    as_one_sentence(error, "2 names for 4 clusters")


@pytest.mark.parametrize(
    "about", [[], {"title": 3}, {"names": "abc"}, {"unknown": "x"}, {"title": "x" * 5000}]
)
def test_damaged_words_are_answered_in_one_sentence(tmp_path, about):
    path = make_release().save(tmp_path / "release")
    document = json.loads((path / "release.json").read_text(encoding="utf-8"))
    document["about"] = about
    (path / "release.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ReleaseError) as error:
        Release.load(path)
    as_one_sentence(error, str(path))


def test_two_releases_that_differ_in_the_last_number_of_a_long_array_differ():
    centers = np.random.default_rng(0).uniform(0, 100, (5000, 3))
    other = centers.copy()
    other[-1, -1] = np.nextafter(other[-1, -1], 0)
    assert make_release(centers).digest != make_release(other).digest


def test_what_is_said_at_a_glance_is_plain_data():
    facts = make_release().facts()
    assert ("clusters", "4") in facts.summary
    assert json.loads(json.dumps(dict(facts.values)))["clusters"][0]["size"] == 50
    assert facts.listings[0].headings[:2] == ["cluster", "rows ± 2 errors"]
    assert all(len(line) == len(facts.listings[0].headings) for line in facts.listings[0].lines)


def test_a_size_is_followed_by_two_errors_in_the_table_as_in_the_sentence():
    release = make_release()
    size, error = (
        float(release.arrays[name][0]) for name in ("cluster_sizes", "cluster_sizes_error")
    )
    shown = release.facts().listings[0].lines[0][1]
    assert shown == f"{size:,.0f} ± {2 * error:g}"
    assert sentence_of([], size, error).endswith(f"; {shown} rows")
