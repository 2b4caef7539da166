"""What a fit keeps, publishes and warns of depends on the data through noisy answers alone.

The answers of one fit are given again to a fit of other data, of another size. Whatever differs
then came from the data by another way: a warning that looks at the exact number of rows, say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from privclust import MatrixCount, MatrixEntry, PrivateSourceTargetMedoids, ReplaceRow
from privclust.papers.targets import PrivateNearestMedoids
from support.datasets import PLACES
from support.estimators import ESTIMATORS, EstimatorRecord
from support.transcripts import recorded_draws, replayed_draws

RECORDS = {record.name: record for record in ESTIMATORS}
# A warning may appear at a small budget only, and at a large one a signal stands out.
BUDGETS = (0.02, 2.0, 50.0)
# Every method at all of them, and under every unit at one: units and budgets meet in the noise.
CASES = [
    pytest.param(
        record, unit, method, epsilon, id=f"{epsilon}-{record.name}-{unit}-{method or 'only'}"
    )
    for record in ESTIMATORS
    for at, unit in enumerate(record.units)
    for number, method in enumerate(record.methods or (None,))
    for epsilon in (BUDGETS if at == 0 else BUDGETS[(at + number) % 3 :][:1])
]


def other_data(data: Any, unit: Any) -> Any:
    """Return other rows, and another number of them unless the unit makes that public."""
    if isinstance(data, pd.DataFrame):
        n_rows = len(data) if isinstance(unit, ReplaceRow) else 17
        return data.iloc[[3]].loc[data.index[[3]].repeat(n_rows)].reset_index(drop=True)
    if isinstance(unit, (MatrixCount, MatrixEntry)):
        return sparse.csr_matrix(data.shape, dtype=data.dtype)
    return data[:5]


def public_outcome(model: Any) -> dict[str, Any]:
    """Return all that a reader can see of a fit, but for what is new each time."""
    release = model.release()
    return {
        "arrays": {name: array.tolist() for name, array in release.arrays.items()},
        "parameters": release.parameters,
        "schema": release.schema.to_dict(),
        "privacy": model.privacy_.to_dict(),
        "warnings": model.warnings_,
    }


def with_method(method: str | None) -> dict[str, Any]:
    return {} if method is None else {"method": method}


@pytest.mark.parametrize(("record", "unit", "method", "epsilon"), CASES)
def test_the_same_answers_give_the_same_model_whatever_the_data(
    record: EstimatorRecord, unit: Any, method: str | None, epsilon: float
) -> None:
    data = record.data(unit)
    made = [record.make(unit, epsilon=epsilon, random_state=5, **with_method(method)) for _ in "ab"]
    with recorded_draws() as draws:
        first = record.fit(made[0], data)
    with replayed_draws([draw.answer for draw in draws]) as asked:
        second = record.fit(made[1], other_data(data, unit))
    assert len(asked) == len(draws) > 0
    assert any((a.exact != d.exact).any() for a, d in zip(asked, draws, strict=True))
    assert public_outcome(second) == public_outcome(first)


def empty_sources(folder: Any) -> dict[str, Any]:
    frame = pd.DataFrame({"x": [], "y": []})
    frame.to_csv(folder / "empty.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), folder / "empty.parquet")
    return {
        "None": None,
        "list": [],
        "frame": frame,
        "array": np.empty((0, 2)),
        "Arrow": pa.Table.from_pandas(frame),
        "CSV": folder / "empty.csv",
        "Parquet": folder / "empty.parquet",
    }


# Forms are read before methods differ: the quickest tries all of them, the others two.
@pytest.mark.parametrize(("method", "forms"), [("nna", 7), ("rings", 2), ("nas", 2)])
def test_no_form_of_an_empty_source_can_be_told_from_another(
    method: str, forms: int, tmp_path: Any
) -> None:
    of_a_paper = method != "rings"
    kind = PrivateNearestMedoids if of_a_paper else PrivateSourceTargetMedoids
    record, chosen = RECORDS[kind.__name__], {"method": method} if of_a_paper else {}
    sources = empty_sources(tmp_path)
    assert len(sources) == 7
    seen = {
        name: public_outcome(
            record.fit(record.make(schema=PLACES, random_state=2, **chosen), sources[name])
        )
        for name in list(sources)[:forms]
    }
    assert all(outcome == seen["None"] for outcome in seen.values())


def zero_matrices(folder: Any) -> dict[str, Any]:
    shape = 240, 90
    stored = sparse.csr_matrix((np.zeros(2), ([0, 5], [3, 4])), shape=shape)
    triples = pd.DataFrame({"row": [], "column": [], "count": []})
    triples.to_csv(folder / "zeros.csv", index=False)
    sparse.save_npz(folder / "zeros.npz", stored)
    return {
        "dense": np.zeros(shape),
        "integers": np.zeros(shape, dtype=np.int64),
        "nothing stored": sparse.csr_matrix(shape),
        "stored zeros": stored,
        "file": folder / "zeros.npz",
        "triples": triples,
        "triples in a file": folder / "zeros.csv",
        "triples of zeros": pd.DataFrame({"row": [1.0], "column": [2.0], "count": [0.0]}),
    }


@pytest.mark.parametrize(
    ("record", "unit"),
    [
        pytest.param(record, unit, id=f"{record.name}-{unit}")
        for record in (RECORDS["PrivateCoclustering"], RECORDS["PrivateTauCoclustering"])
        for unit in record.units
    ],
)
def test_no_form_of_a_matrix_of_zeros_can_be_told_from_another(
    record: EstimatorRecord, unit: Any, tmp_path: Any
) -> None:
    seen = {}
    for name, matrix in zero_matrices(tmp_path).items():
        shape = (240, 90) if name.startswith("triples") else None
        model = record.make(unit, random_state=2, shape=shape)
        seen[name] = public_outcome(record.fit(model, matrix))
    assert all(outcome == seen["dense"] for outcome in seen.values())
