"""How much each column counts: before a fit by public facts, after it by the released centres.

Nothing here reads rows. Before a fit, the gap of a column is assumed; afterwards, centres and sizes
show which columns separate the clusters, and whether one of them decides alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.notes import Note, category_notes
from privclust.schema.coordinates import SPREAD, Coordinates, assumed_shares
from privclust.schema.schema import Schema

# One column decides almost alone if it has more than this share of what separates the clusters, and
# they predict more than this share of it.
_MOST, _ALL = 0.5, 0.9
# Numbers that spread by less than this, in declared widths, have bounds some four times too wide.
_LOOSE = SPREAD / 4
_NAMED = 6
_SAME = 0.005


@dataclass(frozen=True)
class ColumnPart:
    """What a column has to do with released clusters."""

    name: str
    share: float  # its share of the squared distances between the centres
    # Of a column of categories, how far the clusters predict it: the measure of Goodman and
    # Kruskal, 1 if they are its values.
    tau: float | None
    # The same of a column of numbers, if its values were its two bounds; it is near 1 only if the
    # centres lie at both of them.
    ends: float = 0.0


def separation_shares(
    coordinates: Coordinates, scales: Floats, centers: Floats, sizes: Floats
) -> list[ColumnPart]:
    """Return the part of each column in what separates clusters, the largest first.

    ``scales``: (n_features,), what counts as one in each coordinate. ``centers``: (n_clusters,
    n_features). ``sizes``: (n_clusters,).
    """
    weights = np.maximum(sizes, 0)
    weights = weights / weights.sum() if weights.any() else np.full(len(sizes), 1 / len(sizes))
    middle = weights @ centers
    squares = weights @ (centers - middle) ** 2
    counted = squares / scales**2
    whole = max(float(counted.sum()), 1e-300)
    parts = []
    for column in coordinates.columns:
        numbers = column.labels is None
        width = (coordinates.high - coordinates.low)[column.places]
        shares = (middle - coordinates.low)[column.places] / width
        left = max(float((shares * (1 - shares)).sum()), 1e-9)
        tau = min(float((squares[column.places] / width**2).sum()) / left, 1.0)
        share = float(counted[column.places].sum()) / whole
        part = (None, tau) if numbers else (tau, 0.0)
        parts.append(ColumnPart(column.name, share, *part))
    return sorted(parts, key=lambda part: -part.share)


def column_notes(parts: list[ColumnPart]) -> Iterator[Note]:
    """Yield a note if the clusters are nearly the values of one of several columns."""
    if len(parts) < 2:
        return
    first = parts[0]
    if first.tau is not None and first.share > _MOST and first.tau > _ALL:
        yield Note(
            "column-decides",
            f"The clusters are nearly the values of {first.name!r} ({percent(first.share)} of what "
            "separates them); declare a smaller weight for it, such as 0.5, or ignore it, and "
            "closer bounds if those of the numbers are loose, which PrivateBounds finds.",
        )
    if first.share > _MOST and first.ends > _ALL:
        yield Note(
            "column-decides",
            f"The clusters lie at the two bounds of {first.name!r} ({percent(first.share)} of what "
            "separates them); if it has two values, declare these as categories, which count less, "
            "or else a smaller weight.",
        )


def loose_notes(schema: Schema, places: Floats, weights: Floats) -> Iterator[Note]:
    """Yield a note if released places fill a small part of the bounds of every number.

    ``places``: (n_places, n_features), centres or cells, in the units of the data. ``weights``:
    (n_places,), about how many rows each represents; at least zero.
    """
    if (weights > 0).sum() < 2 or not schema.numeric:
        return
    numbers = places[:, Coordinates(schema).numbers] / (schema.high - schema.low)
    middle = np.average(numbers, axis=0, weights=weights)
    spread = np.sqrt(np.average((numbers - middle) ** 2, axis=0, weights=weights))
    if spread.max() < _LOOSE:
        beside = " and numbers count little" if schema.categorical else ""
        yield Note(
            "bounds-loose",
            f"What is released spreads by at most {percent(float(spread.max()))} of the declared "
            f"width of any number, so that noise is larger than need be{beside}; declare closer "
            "bounds, or find them with PrivateBounds.",
        )


def share_sentences(
    schema: Schema, rescale: bool, gap: float | None, *, measured: bool = False
) -> tuple[str, ...]:
    """Return what a plan says of the columns: their shares, and what loose bounds would cost."""
    if len(schema) < 2 or schema.ball is not None:
        return ()
    shares = assumed_shares(schema, rescale, gap)
    sentences = []
    if max(shares.values()) - min(shares.values()) > _SAME:
        sentences.append(
            f"Assumed shares of the distance between two rows: {_list_shares(shares)}."
        )
    if rescale and schema.numeric and not measured:
        sentences.append(
            "This takes numbers to spread by about a fifth of their declared widths: a number "
            "with bounds four times too wide counts only a sixteenth; "
            "PrivateBounds finds closer bounds."
        )
    return tuple(sentences)


def _list_shares(shares: Mapping[str, float]) -> str:
    """Return the largest shares by name, and the others together."""
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    parts = [f"{name} {percent(share)}" for name, share in ranked[:_NAMED]]
    if len(ranked) > _NAMED:
        rest = sum(share for _, share in ranked[_NAMED:])
        parts.append(f"{len(ranked) - _NAMED} others {percent(rest)}")
    return ", ".join(parts)


def percent(share: float) -> str:
    """Return a share as a reader expects it."""
    return f"{100 * share:.0f} %"


def shares_notes(schema: Schema, places: Floats, sizes: Floats, errors: Any) -> Iterator[Note]:
    """Yield a note for each column of categories whose values are mostly missing or not listed.

    ``places``: (n_places, n_coordinates), with their standard errors or None. ``sizes``:
    (n_places,).
    """
    rows = np.maximum(sizes, 0)
    weights = rows / max(float(rows.sum()), 1e-300)
    noise = np.zeros(places.shape) if errors is None else errors
    of_all = np.sqrt(weights**2 @ noise**2)
    yield from category_notes(schema, weights @ places, of_all, float(rows.sum()))


def centre_notes(
    schema: Schema, scaling: Mapping[str, Any], centers: Floats, sizes: Floats, errors: Floats
) -> Iterator[Note]:
    """Yield what centres that saw the rows say of their columns.

    ``scaling``: as in ``Coordinates.scales``. ``sizes``, ``errors``: (n_clusters,).
    """
    coordinates = Coordinates(schema)
    scales = coordinates.scales(**scaling)
    yield from column_notes(separation_shares(coordinates, scales, centers, sizes))
    # Clusters of categories need not differ in the numbers.
    if not schema.categorical and schema.ball is None:
        yield from loose_notes(schema, centers, np.where(sizes > 2 * errors, sizes, 0))


def uneven_sentence(schema: Schema) -> str | None:
    """Return what to tell if one column is so wide that it decides unscaled distances."""
    uneven = schema.uneven_widths()
    if uneven is None:
        return None
    return (
        f"The declared width of {uneven[1]!r} is more than ten times that of {uneven[0]!r}, so it "
        "alone decides the distances; pass rescale=True."
    )
