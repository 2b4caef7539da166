from privclust.density.answers import Density as Density
from privclust.density.answers import DensityClusters as DensityClusters
from privclust.density.estimator import PrivateDensity as PrivateDensity
from privclust.density.persistence import Merge as Merge
