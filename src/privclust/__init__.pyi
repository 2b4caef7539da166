from privclust.bounds import PrivateBounds as PrivateBounds
from privclust.budget import Budget as Budget
from privclust.categorical import PrivateCategoricalKMeans as PrivateCategoricalKMeans
from privclust.categorical import PrivateDilca as PrivateDilca
from privclust.coclustering import PrivateCoclustering as PrivateCoclustering
from privclust.exceptions import LeakWarning as LeakWarning
from privclust.exceptions import PrivclustError as PrivclustError
from privclust.exceptions import PrivclustWarning as PrivclustWarning
from privclust.kmeans import PrivateKMeans as PrivateKMeans
from privclust.ledger import Ledger as Ledger
from privclust.plan import Plan as Plan
from privclust.privacy.statement import PrivacyStatement as PrivacyStatement
from privclust.release import Release as Release
from privclust.schema import Ball as Ball
from privclust.schema import Bins as Bins
from privclust.schema import Box as Box
from privclust.schema import Categories as Categories
from privclust.schema import Schema as Schema
from privclust.source_target import PrivateSourceTargetMedoids as PrivateSourceTargetMedoids
from privclust.summary import PrivateSummary as PrivateSummary
from privclust.unit import AddRemoveRow as AddRemoveRow
from privclust.unit import MatrixCount as MatrixCount
from privclust.unit import MatrixEntry as MatrixEntry
from privclust.unit import MatrixRow as MatrixRow
from privclust.unit import Person as Person
from privclust.unit import ReplaceRow as ReplaceRow

__version__: str
