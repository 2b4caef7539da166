from privclust.bounds.estimator import PrivateBounds as PrivateBounds
