from privclust.coclustering.estimator import *
