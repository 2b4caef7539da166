"""What an algorithm may hold of a matrix of counts: arguments of questions, and noisy answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """A public partition: the group of each row, or of each column, and the number of groups."""

    labels: NDArray[Any]
    count: int

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.count:
            raise ValueError("Every label must be the index of a group.")
        object.__setattr__(self, "labels", labels.astype(np.int32))
