from privclust.papers.tau.private import PrivateTauCoclustering as PrivateTauCoclustering
from privclust.papers.tau.published import TauCoclustering as TauCoclustering
