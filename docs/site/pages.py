"""Pages of the reference that are made from the code, so that none can be forgotten or outdated.

One page for each public name (a class, a function), one for each command, and one of all questions.
They are written into ``docs/reference`` when a build begins, and are not kept.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, get_args

REFERENCE = Path(__file__).parents[1] / "reference"
MOST_LETTERS = 40_000  # of a page that excerpts are taken from; tables of papers are longer

# Every package whose ``__all__`` is a promise, with the line under which the site lists it.
PACKAGES = {
    "privclust": "Estimators, schemas, units, budgets, releases: what most programs need.",
    "privclust.papers.tau": "DP-τCC and Fast-τCC: co-clustering as published, and repaired.",
    "privclust.papers.zones": "k-means with convergent zones as published, and repaired.",
    "privclust.papers.targets": "NAS and NNA: source-target clustering as published, and repaired.",
    "privclust.papers.dilca": "DILCA and DP-DILCA: distances of categories as published.",
    "privclust.papers.rivals": "Rivals of the papers, made private: for comparison alone.",
    "privclust.papers.datasets": "Public data sets of the papers, generated or read from files.",
    "privclust.papers.metrics": "Measures of the papers, exact: for experiments alone.",
    "privclust.audit": "Bounds of a privacy loss by experiment.",
    "privclust.ledger": "Budgets that last: grants, charges, backups, keys.",
    "privclust.service": "Data sets that stay with their steward, asked from here.",
    "privclust.release": "What is published, and how it is signed and loaded.",
    "privclust.schema": "Facts about columns, and schemas of them.",
    "privclust.unit": "Whose presence is hidden.",
    "privclust.exceptions": "All errors and warnings.",
    "privclust.categories": "More on categories.",
    "privclust.source_target": "More on sources and targets.",
    "privclust.clustering": "More on clusters and summaries.",
    "privclust.density": "More on densities.",
    "privclust.mixture": "More on mixtures.",
}


def public_names() -> dict[str, list[str]]:
    """Return the public names of each package; a name is listed under the first that has it."""
    seen: set[int] = set()
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        found[package] = []
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                found[package].append(name)
    return found


def name_page(package: str, name: str) -> str:
    """Return the page of one public name."""
    module = importlib.import_module(package)
    thing = getattr(module, name)
    if not isinstance(thing, type | FunctionType):
        return f"# {name}\n\n`{package}.{name}`: {first_line(module, name)}\n"
    directive = "autoclass" if isinstance(thing, type) else "autofunction"
    return f"# {name}\n\n```{{eval-rst}}\n.. {directive}:: {package}.{name}\n```\n"


def package_section(package: str, names: list[str]) -> str:
    """Return the part of the index that lists one package."""
    module = importlib.import_module(package)
    rows = [f"| [{name}](api/{package}.{name}.md) | {first_line(module, name)} |" for name in names]
    table = "\n".join(["| name | |", "|---|---|", *rows])
    return f"## {package}\n\n{PACKAGES[package]}\n\n{table}\n"


def first_line(module: Any, name: str) -> str:
    """Return the first line of what a name says of itself."""
    thing = getattr(module, name)
    if values := get_args(thing):  # a type that lists its values
        return "One of " + ", ".join(f"`{value!r}`" for value in values) + "."
    if isinstance(thing, str):
        return f"The text `{thing!r}`."
    text = thing.__doc__ or ""
    return text.strip().partition("\n")[0].replace("|", "\\|")


def hidden_tree(pages: list[str]) -> str:
    """Return a table of contents that lists pages without showing them twice."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the page of every command, in the order in which help lists them."""
    from typer.main import get_command

    from privclust.cli.commands import app

    root = get_command(app)
    yield from _pages_of(root, "privclust")


def _pages_of(command: Any, path: str) -> Iterator[tuple[str, str]]:
    context = command.context_class(command, info_name=path)
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _pages_of(inner, f"{path} {name}")
        return
    yield path, command_page(command, context, path)


def command_page(command: Any, context: Any, path: str) -> str:
    """Return the page of one command: its use, what it does, its arguments and options."""
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"# {path}", "", f"```text\n{path} {usage}\n```", "", command.help or "", ""]
    rows = [row for row in (parameter_row(p) for p in command.get_params(context)) if row]
    if rows:
        lines += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def parameter_row(parameter: Any) -> str | None:
    """Return the line of an argument or option, or ``None`` if it says nothing.

    Options that help does not show, so that it fits on a screen, are here: those of the published
    algorithms.
    """
    if getattr(parameter, "hidden", False) and not getattr(parameter, "help", None):
        return None
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{(parameter.metavar or parameter.name).upper()}`"
    text = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {names} | {text} |"


def write_pages(_app: Any = None) -> None:
    """Write all pages again."""
    for folder in ("api", "commands"):
        shutil.rmtree(REFERENCE / folder, ignore_errors=True)
        (REFERENCE / folder).mkdir(parents=True)
    names = public_names()
    for package, listed in names.items():
        for name in listed:
            page = REFERENCE / "api" / f"{package}.{name}.md"
            page.write_text(name_page(package, name), "utf-8")
    sections = [package_section(package, listed) for package, listed in names.items() if listed]
    pages = [f"api/{package}.{name}" for package, listed in names.items() for name in listed]
    index = ["# Python", "", *sections, hidden_tree(pages)]
    (REFERENCE / "python.md").write_text("\n".join(index), "utf-8")
    write_commands()
    (REFERENCE / "questions.md").write_text(questions_page(), "utf-8")


def questions_page() -> str:
    """Return the page of all questions: what each asks, in the words of the view that answers."""
    lines = [
        "# Questions",
        "",
        "A fit asks its data a few questions, and gets every answer with noise. A plan, a "
        "statement of privacy and a report list the questions by name, and say what each asks. "
        "A name begins with the part of the fit that asks, such as `step 2` or `cluster sizes`, "
        "and several parts can ask the same: `step 1: counts` and `cluster sizes: counts` both "
        "ask how many rows are nearest to each centre. A centre is that of a cluster or of a "
        "cell, a small region on the way to clusters. These are all the questions that there "
        "are; the [proofs](../../proofs/README.md) say why the answers are private.",
    ]
    for view in views():
        rows = [f"| `{name}` | {words} |" for name, words in own_questions(view).items()]
        about = (view.__doc__ or "").strip().partition("\n")[0]
        lines += [
            "",
            f"## {view.__name__}",
            "",
            about,
            "",
            "| question | asks |",
            "|---|---|",
            *rows,
        ]
    return "\n".join([*lines, ""])


def views() -> list[Any]:
    """Return every view that answers questions of its own."""
    import privclust.data as data
    from privclust.data.view import View

    for package in pkgutil.iter_modules(data.__path__, "privclust.data."):
        if package.ispkg and importlib.util.find_spec(f"{package.name}.view"):
            importlib.import_module(f"{package.name}.view")
    found, waiting = [], [View]
    while waiting:
        view = waiting.pop(0)
        waiting += view.__subclasses__()
        if view.__module__.startswith("privclust.") and own_questions(view):
            found.append(view)
    return found


def own_questions(view: Any) -> dict[str, str]:
    """Return what the questions ask that a view adds to those of the view it extends."""
    inherited = {name for base in view.__bases__ for name in getattr(base, "asks", {})}
    return {name: words for name, words in view.asks.items() if name not in inherited}


def write_commands() -> None:
    """Write a page for each command, and their list."""
    rows, pages = [], []
    for path, text in command_pages():
        slug = path.replace(" ", "-")
        (REFERENCE / "commands" / f"{slug}.md").write_text(text, "utf-8")
        summary = next((line for line in text.splitlines()[5:] if line.strip()), "")
        rows.append(f"| [`{path}`](commands/{slug}.md) | {summary} |")
        pages.append(f"commands/{slug}")
    text = "\n".join(["# Command line", "", "| command | |", "|---|---|", *rows, ""])
    (REFERENCE / "command-line.md").write_text(text + "\n" + hidden_tree(pages), "utf-8")


def is_foreign(_app: Any, _kind: str, name: str, thing: Any, skip: bool, _options: Any) -> bool:
    """Tell Sphinx to leave out what estimators inherit from scikit-learn's machinery."""
    module = getattr(thing, "__module__", None) or ""
    return skip or module.startswith("sklearn") or name.endswith("_request")


def write_entrance(app: Any, error: Exception | None) -> None:
    """Let the folder of the site open at its first page, from disk as well."""
    if error is None:
        page = app.config.root_doc + ".html"
        text = (
            '<!doctype html><html lang="en"><title>privclust</title>'
            f'<meta http-equiv="refresh" content="0; {page}"><a href="{page}">privclust</a></html>'
        )
        Path(app.outdir, "index.html").write_text(text, "utf-8")


def add_search_texts(app: Any, pagename: str, _template: str, _context: Any, _tree: Any) -> None:
    """Give the search, and no other page, the texts of all pages."""
    if pagename == "search":
        app.add_js_file("page_texts.js")
        app.add_js_file("search_from_disk.js")


def write_search_texts(app: Any, error: Exception | None) -> None:
    """Write the texts of all pages, for excerpts where the site is opened from disk."""
    if error is not None or app.builder.name != "html":
        return
    texts = {}
    for name in sorted(app.env.all_docs):
        text = " ".join(app.env.get_doctree(name).astext().split())
        texts[name] = text[:MOST_LETTERS]
    written = "window.PAGE_TEXTS = " + json.dumps(texts, ensure_ascii=False) + ";\n"
    Path(app.outdir, "_static", "page_texts.js").write_text(written, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx write the pages before it reads any."""
    app.connect("builder-inited", write_pages, priority=100)
    app.connect("build-finished", write_entrance)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("html-page-context", add_search_texts)
    app.connect("build-finished", write_search_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
