from privclust.clustering.kmeans import PrivateKMeans as PrivateKMeans
from privclust.papers.zones.private import PrivateZoneKMeans as PrivateZoneKMeans
