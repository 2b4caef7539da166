from privclust.kmeans.estimator import *
