"""``privclust release``, ``apply`` and ``report``: describe, sign, verify and use a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli import options, screen
from privclust.cli.options import EngineOptions, ReadingOptions, expand_groups
from privclust.cli.screen import PLAIN, REFUSED, UsageError

if TYPE_CHECKING:
    from privclust.release.release import Release


# ``privclust apply``: the clusters of new rows, by a published release.

NewRows = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="New rows: CSV or Parquet files, or a matrix."),
]
LabelsPath = Annotated[
    Path, typer.Option("--output", "-o", metavar="PATH", help="The .csv or .parquet file.")
]
CopiedColumn = Annotated[
    str | None,
    typer.Option("--id-column", metavar="NAME", help="A column to copy next to the labels."),
]
Shape = Annotated[
    tuple[int, int] | None,
    typer.Option("--shape", metavar="ROWS COLUMNS", help="Shape of a matrix given as triples."),
]


@expand_groups
def apply(
    release: options.ReleasePath,
    data: NewRows,
    reading: ReadingOptions,
    output: LabelsPath,
    id_column: CopiedColumn = None,
    shape: Shape = None,
    *,
    engine: EngineOptions,
    overwrite: options.Overwrite = False,
) -> None:
    """Label new rows with a release. Line i of the result belongs to row i of the data."""
    from privclust.jobs import output_paths as places
    from privclust.jobs.label import COLUMN, SUFFIXES, write_labels
    from privclust.release.release import Release

    places.check_file(output, "Labels", SUFFIXES, overwrite=overwrite)
    for part in map(Path, data):
        if output.exists() and part.exists() and output.samefile(part):
            raise ValueError(f"The labels would replace the data in '{part}'; choose another path.")
    rows = data[0] if len(data) == 1 else data
    if reading.columns:
        raise UsageError("A release reads the columns it was made from; drop --columns.")
    loaded = Release.load(release)
    loaded = replace(loaded, schema=reading.apply_to(loaded.schema))
    with engine.engine_context(), screen.rows_progress("Labelling") as progress:
        write_labels(loaded, rows, output, id_column=id_column, shape=shape, progress=progress)
    # The exact number of rows is private: a log or a pipe must not have it.
    note = "The labels describe individual rows. Keep them with the data; they are not a release."
    document = {"labels": str(output), "column": COLUMN}
    screen.answer(document, f"Labels: {output}", note)


# ``privclust report``: the page about a release for readers new to differential privacy.


def report(
    release: options.ReleasePath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The .html file.",
            show_default="report.html within the release, or next to its file",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write the report of a release as one HTML page."""
    from privclust.jobs import output_paths as places
    from privclust.release.release import Release

    loaded = Release.load(release)
    page = places.report_of(release) if output is None else output
    # The page within a release is made only from the release: it may be made again.
    within = output is None and not places.is_one_file(release)
    places.check_file(page, "Report", (".html",), overwrite=overwrite or within)
    loaded.report(page)
    signed = None if loaded.signature is None else loaded.signature.public_key
    lines = [f"Report: {page}"] if signed is None else [f"Report: {page}", f"Signed: {signed}"]
    document = {"report": str(page)} | ({} if signed is None else {"signed": signed})
    screen.answer(document, *lines)


# ``privclust release``: describe, sign and verify what was published.

app = typer.Typer(
    help="Describe, sign and verify a release. No data are touched, nothing is spent.", **PLAIN
)


def _text(name: str, words: str) -> Any:
    return typer.Option(f"--{name}", metavar="TEXT", help=words)


def _list(name: str, of: str) -> Any:
    return typer.Option(f"--{name}", metavar="FILE", help=f"Public names of {of}, one per line.")


@app.command("describe")
def describe(
    release: options.ReleasePath,
    title: Annotated[str | None, _text("title", "What the release is called.")] = None,
    dataset: Annotated[str | None, _text("dataset", "The data that were clustered.")] = None,
    holder: Annotated[str | None, _text("holder", "Who holds them.")] = None,
    contact: Annotated[str | None, _text("contact", "Whom to ask.")] = None,
    purpose: Annotated[str | None, _text("purpose", "What the release was made for.")] = None,
    names: Annotated[Path | None, _list("names", "clusters, columns or centres")] = None,
    row_groups: Annotated[Path | None, _list("row-groups", "row clusters")] = None,
    column_groups: Annotated[Path | None, _list("column-groups", "column clusters")] = None,
) -> None:
    """Say whose data a release is about; what is not given stays. A signature is dropped."""
    from dataclasses import replace

    from privclust.release.release import Release

    loaded = Release.load(release)
    given: dict[str, Any] = {
        "title": title,
        "dataset": dataset,
        "holder": holder,
        "contact": contact,
        "purpose": purpose,
    }
    lists = {"names": names, "row_groups": row_groups, "column_groups": column_groups}
    given |= {name: options.read_lines(path) for name, path in lists.items() if path is not None}
    words = {name: text for name, text in given.items() if text is not None}
    if not words:
        raise UsageError("There is nothing to change; give --title, --holder or another option.")
    described = loaded.with_about(replace(loaded.about, **words))
    _save_again(described, release)
    lines = [f"{label}: {text}" for label, text in described.about.lines.items()]
    if loaded.signature is not None:
        screen.note(
            "The signature was dropped, because the description is new; sign the release again."
        )
    screen.answer({"about": described.about.to_dict()}, *lines)


@app.command("keygen")
def keygen(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Path of the private key; .pub is next to it.")
    ],
) -> None:
    """Create a key to sign releases. Keep the private one, give the public one to readers."""
    from privclust.release.signature import create_key

    public = create_key(path)
    document = {"private_key": str(path), "public_key_file": f"{path}.pub", "public_key": public}
    lines = (f"Private key: {path}", f"Public key:  {path}.pub", f"             {public}")
    screen.answer(document, *lines)


@app.command("sign")
def sign(
    release: options.ReleasePath,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The private key, see 'release keygen'.")
    ],
) -> None:
    """Sign a release with an Ed25519 key; the signature is stored with it."""
    from privclust.release.release import Release

    loaded = Release.load(release)
    if not loaded.privacy.private:
        screen.alarm(loaded.privacy.promise)
    signed = loaded.sign(key)
    public = signed.verify()
    _save_again(signed, release)
    document = {"release": str(release), "digest": signed.digest, "public_key": public}
    screen.answer(document, f"Signed: {release}", f"Public key: {public}")


@app.command("verify")
def verify(
    release: options.ReleasePath,
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", metavar="FILE|HEX", help="The key of the publisher."),
    ] = None,
) -> None:
    """Check that a release, its report and its tables are what was signed; status 1 if not."""
    from privclust.release.release import Release

    loaded = Release.load(release)
    key = loaded.verify(public_key)
    known = public_key is not None
    words = "The release is what the owner of this key signed:"
    if not known:
        words = (
            "The signature matches, but anyone may have made it; compare this key with the "
            "publisher's, or give --public-key:"
        )
    report_matches, others = _report_matches(loaded, release), _changed_tables(loaded, release)
    document = {
        "verified": report_matches is not False and not others,
        "key_was_given": known,
        "public_key": key,
        "digest": loaded.digest,
        "private": loaded.privacy.private,
        "report_matches": report_matches,
        "changed_tables": others,
    }
    lines = (words, key, f"Digest: {loaded.digest}", loaded.privacy.promise)
    screen.answer(document, *lines)
    _refuse_what_was_changed(["report.html"] if report_matches is False else [], others)


@app.command("registry")
def registry(
    release: options.ReleasePath,
    region: Annotated[str, _text("region", "The region that the data are about.")],
    sector: Annotated[str | None, _text("sector", "The industry, such as Healthcare.")] = None,
    author: Annotated[
        list[str] | None,
        typer.Option("--author", metavar="NAME", help="Who wrote the entry; the holder if nobody."),
    ] = None,
    tier: Annotated[
        int, typer.Option("--tier", min=1, max=3, help="How much is told: 1 to 3.")
    ] = 3,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="PATH", help="The .yaml file.")
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a draft of an entry for the OpenDP Deployments Registry, from a release."""
    from privclust.jobs import output_paths as places
    from privclust.release.registry import registry_entry, to_yaml
    from privclust.release.release import Release
    from privclust.release.storage import write_file

    facts: dict[str, Any] = {"region": region, "sector": sector, "tier": tier}
    entry = registry_entry(Release.load(release), authors=author or (), **facts)
    if output is None:
        screen.answer(entry, to_yaml(entry).rstrip())
        return
    places.check_file(output, "Registry entry", (".yaml", ".yml"), overwrite=overwrite)
    write_file(output, to_yaml(entry).encode("utf-8"), "Registry entry")
    note = "Read it before you propose it to the registry: it is a draft."
    screen.answer({"entry": str(output)}, f"Registry entry: {output}", note)


def _report_matches(release: Release, path: Path) -> bool | None:
    """Return whether the report stored with a release is made from it; None if there is none."""
    from privclust.jobs import output_paths as places

    page = places.report_of(path)
    if not page.exists():
        return None
    return page.read_text(encoding="utf-8", errors="replace") == release.to_html()


def _refuse_what_was_changed(pages: list[str], tables: list[str]) -> None:
    """End with an alarm if a report or a table is not what the release makes of it."""
    if pages:
        screen.alarm(
            "The report does not say what was signed: it was changed, or another version of "
            "privclust made it. Do not rely on it; 'privclust report --overwrite' makes it again."
        )
    if tables:
        screen.alarm(
            f"What {' and '.join(tables)} says was not signed. Do not rely on it; signing the "
            "release again, or Release.load(PATH).save(PATH, overwrite=True), makes it anew."
        )
    if pages or tables:
        raise typer.Exit(REFUSED)


def _changed_tables(release: Release, path: Path) -> list[str]:
    """Return the tables stored with a release that are not made from it."""
    from privclust.jobs import output_paths as places
    from privclust.release.storage import TABLES, pack_tables

    if places.is_one_file(path):
        return []
    made = pack_tables(release)
    stored = [name for name in sorted(TABLES) if (path / name).exists()]
    return [name for name in stored if (path / name).read_bytes() != made.get(name)]


def _save_again(release: Release, path: Path) -> None:
    """Write a release where it was, with a new report if there was one."""
    from privclust.jobs import output_paths as places

    within = not places.is_one_file(path) and places.report_of(path).exists()
    release.save(path, overwrite=True, report=within)
