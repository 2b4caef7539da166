from privclust.kmeans.estimator import PrivateKMeans as PrivateKMeans
