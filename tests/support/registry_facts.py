"""Facts of the schema of the Deployments Registry, as of July 2026, and a check against them."""

from __future__ import annotations

from datetime import date

TEXT, NUMBER, TEXTS = str, (int, float), list
STATUS = ("Converted", "Draft", "Pending", "Changes Required", "Approved",
          "Approved (Update Requested)", "Approved (Pending)")  # fmt: skip
PRODUCTS = ("Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
            "Interactive API", "SQL queries")  # fmt: skip
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
# Of each table: its fields with their types or values; the tables within are named by paths.
FIELDS = {
    "": {"url_slug": TEXT, "status": STATUS, "tier": (1, 2, 3), "deployment": dict},
    "deployment": dict.fromkeys(
        ("basic", "dp_variant", "privacy_loss", "deployment_model", "accounting",
         "implementation", "administrative"), dict),
    "deployment.basic": {
        "name": TEXT, "data_curators": TEXTS, "intended_use": TEXT, "data_product_type": PRODUCTS,
        "data_product_region": TEXT, "description": TEXT, "publication_date": TEXT,
        "data_product_sector": SECTORS},
    "deployment.dp_variant": {
        "variant_name": VARIANTS, "data_domain": TEXT, "unprotected_quantities": TEXT},
    "deployment.privacy_loss": {
        "privacy_unit": TEXT, "privacy_unit_details": TEXT, "privacy_parameters": dict,
        "privacy_parameters_details": TEXT},
    "deployment.privacy_loss.privacy_parameters": {
        "epsilon": NUMBER, "delta": (*NUMBER, str), "rho": NUMBER},
    "deployment.deployment_model": {
        "model_name": ("Local", "Central", "Shuffle", "Federated", "Varies"),
        "model_name_details": TEXT, "actors": TEXT,
        "release_type": ("One release", "Many releases"), "release_type_details": TEXT,
        "data_source_type": ("Static", "Dynamic"), "data_source_type_details": TEXT,
        "access_type": ("Interactive", "Non-interactive"), "access_type_details": TEXT},
    "deployment.accounting": {"post_processing": TEXT, "composition": TEXT},
    "deployment.implementation": {
        "preprocessing_and_hyperparameter_tuning": TEXT, "mechanisms": TEXT, "justification": TEXT},
    "deployment.administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": TEXTS},
}  # fmt: skip
REQUIRED = {
    "": ("url_slug", "status", "tier", "deployment"),
    "deployment": ("basic",),
    "deployment.basic": (
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "publication_date"),
    "deployment.administrative": ("registry_authors",),
}  # fmt: skip
# What the third tier asks for, beside free details.
TIER_2 = ("dp_variant", "privacy_loss", "deployment_model")
TIER_3 = (*TIER_2, "accounting", "implementation")


def check_entry(entry: dict, path: str = "") -> None:
    """Assert that an entry is one that the registry takes."""
    fields = FIELDS[path]
    assert set(entry) <= set(fields), set(entry) - set(fields)
    assert set(REQUIRED.get(path, ())) <= set(entry)
    for name, value in entry.items():
        kinds = fields[name]
        if kinds is dict:
            check_entry(value, f"{path}.{name}".lstrip("."))
        elif kinds is list:
            assert value
            assert all(isinstance(item, str) for item in value)
        elif isinstance(kinds, type) or all(isinstance(kind, type) for kind in kinds):
            assert isinstance(value, kinds), (name, value)
            assert not isinstance(value, bool)
        else:
            assert value in kinds, (name, value)
    if path == "deployment.basic":
        date.fromisoformat(entry["publication_date"])
