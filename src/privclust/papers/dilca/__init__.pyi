from privclust.papers.dilca.clusters import PrivateContextKMeans as PrivateContextKMeans
from privclust.papers.dilca.private import PrivateContextDilca as PrivateContextDilca
from privclust.papers.dilca.published import Dilca as Dilca
from privclust.papers.dilca.published import entropy as entropy
from privclust.papers.dilca.published import mutual_information as mutual_information
from privclust.papers.dilca.published import symmetric_uncertainty as symmetric_uncertainty
