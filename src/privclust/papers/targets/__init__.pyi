from privclust.papers.targets.private import PrivateNearestMedoids as PrivateNearestMedoids
from privclust.papers.targets.published import SourceTargetMedoids as SourceTargetMedoids
from privclust.papers.targets.published import cost_difference as cost_difference
from privclust.papers.targets.published import source_spread as source_spread
