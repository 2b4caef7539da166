"""Pictures of released values on Matplotlib axes, for those who draw figures of their own.

They are in the units of the data, with dates as dates. The pictures of a report are in ``plots``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.exceptions import ParameterError, did_you_mean
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

_LARGEST = 1200.0  # of a bubble, in square points
_MOST_NAMED = 40  # bubbles, bars or lines of a table that have room for their names
_DATES = ("date", "time")  # forms that are counted in days since 1970, as Matplotlib does


def axes_or_new(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def pick_columns(
    schema: Schema,
    columns: Sequence[str] | None,
    centers: Floats | None = None,
    weights: Floats | None = None,
) -> list[str]:
    """Return the columns to draw: those asked for, or up to two that differ most between centres.

    How much they differ is counted in declared widths. There are none if no column has numbers.
    """
    if columns is None:
        return [] if centers is None else _most_different(schema, centers, weights)
    named = [columns] if isinstance(columns, str) else list(columns)
    for name in named:
        if name not in schema.numeric:
            near = did_you_mean(name, schema.numeric)
            raise ParameterError(
                f"There is no column of numbers {name!r} to draw{near}; use one of "
                f"{', '.join(map(repr, schema.numeric)) or 'those with numbers'}."
            )
    if not 1 <= len(named) <= 2:
        raise ParameterError(f"columns must be one or two names, got {len(named)}; name those.")
    return named


def _most_different(schema: Schema, centers: Floats, weights: Floats | None) -> list[str]:
    coordinates = Coordinates(schema)
    places = coordinates.numbers
    counted = np.ones(len(centers)) if weights is None else np.maximum(weights, 0) + 1e-9
    middle = np.average(centers[:, places], axis=0, weights=counted)
    spread = np.average((centers[:, places] - middle) ** 2, axis=0, weights=counted)
    widths = (coordinates.high - coordinates.low)[places]
    order = np.argsort(-spread / widths**2, kind="stable")[:2]
    return [schema.numeric[place] for place in sorted(order)]


def refuse_columns(kind: str, columns: object) -> None:
    """Raise if columns were named for a picture that has all of them."""
    if columns is not None:
        raise ParameterError(f"The picture of a {kind} release has no columns to name; drop them.")


def draw_bubbles(
    ax: Any, schema: Schema, columns: Sequence[str], places: Floats, sizes: Floats, *, named: bool
) -> None:
    """Draw points in one or two columns, as large as their sizes; without columns, bars."""
    if not columns:
        draw_bars(ax, [str(label) for label in range(len(sizes))], sizes, None, "rows")
        return
    coordinates = Coordinates(schema)
    starts = {column.name: column.start for column in coordinates.columns}
    along = [np.asarray(places[:, starts[name]], np.float64) for name in columns]
    if len(along) == 1:
        ax.vlines(along[0], 0, sizes)
        along.append(np.asarray(sizes, np.float64))
        ax.set_ylabel("rows")
    area = _LARGEST * np.maximum(sizes, 0) / max(float(sizes.max(initial=0)), 1.0)
    ax.scatter(*along, s=np.maximum(area, 4.0), alpha=0.5)
    if named and len(sizes) <= _MOST_NAMED:
        for label, (x, y) in enumerate(zip(*along, strict=True)):
            ax.annotate(str(label), (x, y), ha="center", va="center")
    label_axes(ax, schema, columns)


def label_axes(ax: Any, schema: Schema, columns: Sequence[str]) -> None:
    """Write the names of the columns on the axes; their dates are shown as such."""
    for name, axis in zip(columns, (ax.xaxis, ax.yaxis), strict=False):
        fact = schema[name]
        axis.set_label_text(name, parse_math=False)
        if isinstance(fact, Box) and fact.form in _DATES:
            axis.axis_date()


def draw_bars(
    ax: Any, names: Sequence[str], values: Floats, errors: Floats | None, words: str
) -> None:
    """Draw a line for each name, the first on top, with two standard errors if they are known."""
    at = np.arange(len(names))
    whiskers = None if errors is None else 2 * np.asarray(errors)
    ax.barh(at, values, 0.7, xerr=whiskers, alpha=0.75)
    if len(names) <= _MOST_NAMED:
        ax.set_yticks(at, names, parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(words)


def draw_table(ax: Any, values: Floats, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Draw a table as a map of colours, with names next to it if there is room."""
    image = ax.imshow(values, aspect="auto")
    ax.figure.colorbar(image, ax=ax)
    for names, put in ((columns, ax.set_xticks), (rows, ax.set_yticks)):
        if len(names) <= _MOST_NAMED:
            put(np.arange(len(names)), names, parse_math=False)
