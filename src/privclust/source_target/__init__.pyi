from privclust.source_target.estimator import *
from privclust.source_target.sanitised import ReleasedSource as ReleasedSource
