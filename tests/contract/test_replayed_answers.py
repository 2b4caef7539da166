"""Whatever a fit keeps, publishes and warns of is made from noisy answers and public facts alone.

The answers of a fit are recorded, and given again to a fit on other data: both must end alike,
their warnings included, whatever the data are.
"""

import numpy as np
import pytest

from privclust.unit.matrix import MatrixRow
from support.estimators import ESTIMATORS
from support.transcripts import recorded_draws, replayed_draws

CASES = [
    (record, unit, method)
    for record in ESTIMATORS
    for unit in (record.units if record.units[0].name.startswith("matrix") else record.units[:1])
    for method in record.methods or (None,)
]


def other(data, unit):
    """Return data of another size, where that is private, and with other values."""
    if hasattr(data, "iloc"):
        return data.iloc[::-1].iloc[: len(data) // 3 + 1]
    moved = data[:, ::-1]
    return moved[: data.shape[0] // 3] if isinstance(unit, MatrixRow) else moved * 2


def seen(model):
    """Return all that a fitted model shows of itself, as far as it can be compared."""
    kept = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: value for name, value in kept.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(
    ("record", "unit", "method"), CASES, ids=lambda case: getattr(case, "name", str(case))
)
def test_other_data_with_the_same_answers_end_alike(record, unit, method):
    changes = {} if method is None else {"method": method}
    data = record.data(unit)
    with recorded_draws() as draws:
        one = record.fit(record.make(unit, random_state=7, **changes), data)
    with replayed_draws([draw.answer for draw in draws]) as asked:
        two = record.fit(record.make(unit, random_state=7, **changes), other(data, unit))
    assert [draw.mechanism for draw in asked] == [draw.mechanism for draw in draws]
    assert any(not np.array_equal(a.exact, b.exact) for a, b in zip(draws, asked, strict=True))
    assert two.warnings_ == one.warnings_
    assert two.release() == one.release()
    assert seen(two).keys() == seen(one).keys()
    for name, values in seen(one).items():
        np.testing.assert_array_equal(seen(two)[name], values, err_msg=name)
