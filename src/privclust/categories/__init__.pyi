from privclust.categories.estimator import PrivateDilca as PrivateDilca
