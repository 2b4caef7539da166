from privclust.source_target.estimator import (
    PrivateSourceTargetMedoids as PrivateSourceTargetMedoids,
)
from privclust.source_target.noisy_source import ReleasedSource as ReleasedSource
