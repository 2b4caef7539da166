from privclust.categorical.estimator import *
from privclust.categorical.kmeans import *
from privclust.schema.dtypes import schema_of_dtypes as schema_of_dtypes
