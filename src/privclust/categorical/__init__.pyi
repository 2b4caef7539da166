from privclust.categorical.estimator import PrivateCategoricalKMeans as PrivateCategoricalKMeans
from privclust.categorical.estimator import PrivateDilca as PrivateDilca
from privclust.data.table.door import schema_of_dtypes as schema_of_dtypes
