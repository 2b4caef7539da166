from privclust.categories.estimator import PrivateDilca as PrivateDilca
from privclust.schema.coerce import schema_of_dtypes as schema_of_dtypes
