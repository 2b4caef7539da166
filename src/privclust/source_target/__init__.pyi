from privclust.source_target.estimator import (
    PrivateSourceTargetMedoids as PrivateSourceTargetMedoids,
)
from privclust.source_target.sanitised import ReleasedSource as ReleasedSource
