from privclust.kmeans.estimator import *
from privclust.kmeans.zone_estimator import *
