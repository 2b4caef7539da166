from privclust.kmeans.estimator import PrivateKMeans as PrivateKMeans
from privclust.kmeans.zone_estimator import PrivateZoneKMeans as PrivateZoneKMeans
