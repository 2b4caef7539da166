from privclust.bounds.estimator import PrivateBounds as PrivateBounds
from privclust.budget import Budget as Budget
from privclust.categories.estimator import PrivateDilca as PrivateDilca
from privclust.clustering.estimator import PrivateKMeans as PrivateKMeans
from privclust.clustering.summary import PrivateSummary as PrivateSummary
from privclust.coclustering.estimator import PrivateCoclustering as PrivateCoclustering
from privclust.density.estimator import PrivateDensity as PrivateDensity
from privclust.display import progress as progress
from privclust.engines.choose import engine as engine
from privclust.engines.choose import local_cluster as local_cluster
from privclust.exceptions import LeakWarning as LeakWarning
from privclust.exceptions import PrivclustError as PrivclustError
from privclust.exceptions import PrivclustWarning as PrivclustWarning
from privclust.ledger.ledger import Ledger as Ledger
from privclust.mixture.estimator import PrivateGaussianMixture as PrivateGaussianMixture
from privclust.plan import Plan as Plan
from privclust.release.release import Release as Release
from privclust.schema.ball_fact import Ball as Ball
from privclust.schema.facts import Bins as Bins
from privclust.schema.facts import Box as Box
from privclust.schema.facts import Categories as Categories
from privclust.schema.schema import Schema as Schema
from privclust.source_target.estimator import (
    PrivateSourceTargetMedoids as PrivateSourceTargetMedoids,
)
from privclust.statement import PrivacyStatement as PrivacyStatement
from privclust.steward.check import check_rows as check_rows
from privclust.steward.draft import draft_schema as draft_schema
from privclust.unit.matrix import MatrixCount as MatrixCount
from privclust.unit.matrix import MatrixEntry as MatrixEntry
from privclust.unit.matrix import MatrixRow as MatrixRow
from privclust.unit.rows import AddRemoveRow as AddRemoveRow
from privclust.unit.rows import Person as Person
from privclust.unit.rows import ReplaceRow as ReplaceRow

__version__: str
