from privclust.clustering.answers import Summary as Summary
from privclust.clustering.choose_k import Choice as Choice
from privclust.clustering.dendrogram import Dendrogram as Dendrogram
from privclust.clustering.estimator import PrivateKMeans as PrivateKMeans
from privclust.clustering.profiles import Profile as Profile
from privclust.clustering.summary import PrivateSummary as PrivateSummary
