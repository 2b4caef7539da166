"""Every estimator takes the schema in every form that can stand for one."""

from __future__ import annotations

import numpy as np
import pytest

from privclust import Schema
from privclust.exceptions import PrivclustError
from support.estimators import ESTIMATORS

WITH_SCHEMA = [record for record in ESTIMATORS if "schema" in record.parameters]


@pytest.mark.parametrize("record", WITH_SCHEMA, ids=lambda record: record.name)
def test_a_file_and_a_dict_declare_what_a_schema_does(record, tmp_path):
    schema: Schema = record.parameters["schema"]
    schema.save(tmp_path / "columns.toml")
    forms = [str(tmp_path / "columns.toml"), tmp_path / "columns.toml", schema.columns]
    first = record.seeded().release()
    for form in forms:
        release = record.seeded(schema=form).release()
        assert release.schema == schema
        for name, array in first.arrays.items():
            np.testing.assert_array_equal(array, release.arrays[name])


@pytest.mark.parametrize("record", WITH_SCHEMA, ids=lambda record: record.name)
def test_what_is_no_schema_is_refused_in_one_sentence(record):
    for wrong in (3, "absent.toml", {"x": 3}, ["x"]):
        with pytest.raises((PrivclustError, OSError)) as caught:
            record.fit(record.make(schema=wrong), record.data())
        assert ". " not in str(caught.value).rstrip(".")


@pytest.mark.parametrize(
    "record",
    [record for record in WITH_SCHEMA if "bounds" in record.make().get_params()],
    ids=lambda record: record.name,
)
def test_a_schema_and_bounds_together_are_refused(record):
    with pytest.raises(PrivclustError, match="schema and bounds"):
        record.fit(record.make(bounds=(0, 10)), record.data())
