"""A release at a glance: what a terminal and a notebook show of it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from privclust.release.kinds import kind_named

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["at_a_glance", "html_card"]

_ALARM = "background:#b3261e;color:#fff;padding:.3em .6em;font-weight:bold"


def at_a_glance(release: Release) -> list[tuple[str, str]]:
    """Return the most important facts, each with its label."""
    return [*release.facts().summary, ("queries", str(len(release.privacy.queries)))]


def html_card(release: Release) -> str:
    """Return a small table in HTML."""
    rows = [*at_a_glance(release), ("created", release.created), ("digest", release.digest[:12])]
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(value)}</td></tr>"
        for label, value in rows
    )
    style = "" if release.privacy.private else f" style='{_ALARM}'"
    promise = f"<p{style}>{escape(release.privacy.promise)}</p>"
    title = release.about.title or f"Release: {kind_named(release.kind).title}"
    return f"<div><b>{escape(title)}</b>{promise}<table>{cells}</table></div>"
