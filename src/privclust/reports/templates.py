"""The one place where templates of pages are loaded, escaped and filled in."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["rendered"]

_POWER = re.compile(r"\b(e|10)\^(ε|\(2ε\)|\d+)")


def rendered(template: str, values: dict[str, Any]) -> str:
    """Return a page; every value is escaped, and a name that a template lacks is an error.

    Parameters
    ----------
    template : str
        The path of the template within the package, such as ``"reports/page.html.j2"``.
    values : dict
        What the template shows.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("privclust", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # they are part of the package, and looking costs every page time
    )
    environment.filters["inline"] = Markup  # for our own SVG only, whose text is escaped
    environment.filters["powers"] = lambda text: Markup(  # noqa: S704
        _POWER.sub(r"\1<sup>\2</sup>", str(escape(text)))
    )
    environment.filters["sentence"] = lambda text: f"{text[:1].upper()}{text[1:].rstrip('.')}."
    return environment
