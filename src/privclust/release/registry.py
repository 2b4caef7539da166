"""A release as an entry of the Deployments Registry, and as a model card for a hub of models.

The registry (https://registry.opendp.org) lists deployments of differential privacy, in YAML and in
three tiers: what it is, what it promises, how it was done. All of it is in a release but the region
that the data are about. The facts of its schema are as of July 2026.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from privclust.budget import round_up
from privclust.exceptions import ReleaseError
from privclust.release.kinds import get_kind
from privclust.reports.values import column_label, counted_missing, describe_range, missing_words

if TYPE_CHECKING:
    from privclust.release.release import Release

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
Tier = Literal[1, 2, 3]
_STATISTICS = ("bounds", "summary")  # kinds that are no models


def registry_entry(
    release: Release,
    *,
    region: str,
    sector: str | None = None,
    authors: Sequence[str] = (),
    tier: Tier = 3,
) -> dict[str, Any]:
    """Return a draft of an entry for the registry, as plain data.

    Parameters
    ----------
    release : Release
        Private, with a title, a holder and a purpose.
    region : str
        The region that the data are about, or whose laws apply.
    sector : str or None
        The industry that the data are about, as the registry calls it.
    authors : sequence of str
        Who wrote the entry; the holder if nobody is named.
    tier : {1, 2, 3}, default=3
        How much is told.
    """
    _check_publishable(release, region, sector)
    about = release.about
    deployment: dict[str, Any] = {"basic": _basic(release, region, sector)}
    if tier >= 2:
        deployment |= _promise(release)
    if tier == 3:
        _add_details(deployment, release)
    deployment["administrative"] = {
        "notes": f"Release {release.digest} of privclust {release.library_version}.",
        "registry_authors": list(authors) or [about.holder],
    }
    slug = re.sub(r"[^a-z0-9]+", "_", str(about.title).lower()).strip("_") or "release"
    return {"url_slug": slug, "status": "Draft", "tier": tier, "deployment": deployment}


def _check_publishable(release: Release, region: str, sector: str | None) -> None:
    if not release.privacy.private:
        raise ReleaseError(
            "A release that is NOT PRIVATE has no place in a registry; fit it again without a seed."
        )
    for name in ("title", "holder", "purpose"):
        if getattr(release.about, name) is None:
            raise ReleaseError(
                f"The release has no {name}, which the registry asks for; "
                f"add it with 'privclust release describe --{name}'."
            )
    if not region.strip():
        raise ReleaseError("The registry asks for the region of the data; name it, or the world.")
    if sector is not None and sector not in SECTORS:
        raise ReleaseError(
            f"The registry knows no sector {sector!r}; use one of {', '.join(SECTORS)}."
        )
    if not release.privacy.unit.get("name") or not release.privacy.protects:
        raise ReleaseError("The release does not say what its unit of privacy is; fit it again.")


def _basic(release: Release, region: str, sector: str | None) -> dict[str, Any]:
    about, kind = release.about, get_kind(release.kind)
    facts = ", ".join(f"{label}: {text}" for label, text in release.facts().summary)
    data = "" if about.dataset is None else f" of {about.dataset}"
    statistics = release.kind in _STATISTICS
    basic = {
        "name": about.title,
        "data_curators": [about.holder],
        "description": f"{kind.title[:1].upper()}{kind.title[1:]}{data} ({facts}).",
        "intended_use": about.purpose,
        "data_product_type": "Summary statistics" if statistics else "Machine learning model",
        "data_product_region": region,
        "publication_date": release.created,
    }
    return basic | ({} if sector is None else {"data_product_sector": sector})


def _promise(release: Release) -> dict[str, Any]:
    privacy = release.privacy
    # Rounded up, so that no reader is promised more than holds.
    parameters: dict[str, Any] = {"epsilon": float(round_up(privacy.epsilon, 6))}
    if privacy.delta:
        parameters["delta"] = float(round_up(privacy.delta, 6))
    return {
        "dp_variant": {"variant_name": "Approximate DP" if privacy.delta else "Pure DP"},
        "privacy_loss": {
            "privacy_unit": str(privacy.unit["name"]),
            "privacy_parameters": parameters,
        },
        "deployment_model": {
            "model_name": "Central",
            "release_type": "One release",
            "data_source_type": "Static",
            "access_type": "Non-interactive",
        },
    }


def _add_details(deployment: dict[str, Any], release: Release) -> None:
    """Add what the third tier asks for."""
    privacy = release.privacy
    columns = ", ".join(
        f"{name} ({fact.describe()})" for name, fact in release.schema.columns.items()
    )
    deployment["dp_variant"] |= {
        "data_domain": f"Tables with the columns {columns}." if columns else "Matrices of counts.",
        "unprotected_quantities": "The schema and the parameters of the fit, which are public."
        + ("" if privacy.unit["name"] != "replace-row" else " The number of rows."),
    }
    deployment["privacy_loss"]["privacy_unit_details"] = privacy.protects
    deployment["deployment_model"]["model_name_details"] = (
        "The holder of the rows runs the fit; readers see the release alone."
    )
    deployment["deployment_model"]["actors"] = (
        "The holder of the rows is trusted with them. Readers are not, and may know all other rows."
    )
    noises = Counter(charge.noise.partition(",")[0] for charge in privacy.queries)
    listed = ", ".join(f"{name} ({count} queries)" for name, count in noises.items())
    charged = "" if privacy.receipt is None else f" Charged to a ledger, receipt {privacy.receipt}."
    deployment["accounting"] = {
        "post_processing": "All computations on the noisy answers.",
        "composition": (
            f"{len(privacy.queries)} adaptive queries, their losses added up in "
            f"{'zero-concentrated DP' if privacy.delta else 'pure ε'} as exact fractions.{charged}"
        ),
    }
    deployment["implementation"] = _implementation(release, listed)


def _implementation(release: Release, mechanisms: str) -> dict[str, str]:
    return {
        "preprocessing_and_hyperparameter_tuning": (
            "Values are clipped to declared bounds, row by row; nothing is tuned on the rows "
            "beyond the queries listed."
        ),
        "mechanisms": (
            f"{mechanisms}, by privclust {release.library_version}. Statistics are integers and "
            "noise is drawn exactly, from bits of the operating system, so that floating-point "
            "attacks do not apply. Timing is not protected."
        ),
        "justification": (
            "The library has a proof, a brute-force test of the sensitivity and an audit for each "
            "query."
        ),
    }


def to_yaml(plain: Mapping[str, Any]) -> str:
    """Return plain data as YAML, with every text in double quotes, which JSON has as well."""
    return "\n".join(_yaml_lines(plain, "")) + "\n"


def _yaml_lines(plain: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in plain.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:", *_yaml_lines(value, indent + "  ")]
        elif isinstance(value, list):
            lines.append(f"{indent}{key}:")
            lines += [f"{indent}  - {_scalar(item)}" for item in value]
        else:
            lines.append(f"{indent}{key}: {_scalar(value)}")
    return lines


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# The model card: what a hub of models shows of a folder.


def model_card(release: Release) -> str:
    """Return ``README.md`` of a release, with front matter as hubs of models read it."""
    privacy, kind = release.privacy, get_kind(release.kind)
    title = release.about.title or f"Release: {kind.title}"
    front = {
        "library_name": "privclust",
        "model_name": title,
        "tags": ["differential-privacy", "clustering", release.kind],
        "private": privacy.private,
        "epsilon": float(round_up(privacy.epsilon, 6)),
        "delta": float(round_up(privacy.delta, 6)) if privacy.delta else 0,
        "privacy_unit": str(privacy.unit.get("name", "")),
        "created": release.created,
        "digest": release.digest,
    }
    promise = privacy.promise[:1].upper() + privacy.promise[1:]
    lines = [f"# {_plain(title)}", "", promise.rstrip(".") + ".", "", _plain(privacy.protects), ""]
    said = {name: text for name, text in release.about.lines.items() if name != "title"}
    facts = [*said.items(), *release.facts().summary]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {_plain(label)} | {_plain(text)} |" for label, text in facts]
    lines += _column_lines(release)
    lines += ["", "## What was asked of the rows", ""]
    lines += ["| question | noise | ε | ρ |", "|---|---|---|---|"]
    for charge in privacy.queries:
        pure = "" if charge.loss.pure is None else f"{float(charge.loss.pure):.4g}"
        cells = (_plain(charge.query), _plain(charge.noise), pure, f"{float(charge.loss.rho):.4g}")
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## How to use it",
        "",
        '`privclust.Release.load("folder")` reads it and checks its digest; `predict` labels new '
        "rows. No code in the folder is run.",
    ]
    return f"---\n{to_yaml(front)}---\n\n" + "\n".join(lines) + "\n"


def _column_lines(release: Release) -> list[str]:
    """Return what was declared of the columns, with the rule for their missing values."""
    counted = counted_missing(release)
    lines = ["", "## Columns", "", "| column | declared | missing values |", "|---|---|---|"]
    for name, fact in release.schema.columns.items():
        rule = missing_words(name, fact, counted) or "not allowed"
        cells = (column_label(name, fact), describe_range(fact), rule)
        lines.append(f"| {' | '.join(map(_plain, cells))} |")
    return lines


def _plain(text: str) -> str:
    """Return text of others as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", text)
