from privclust.service.remote import RemoteDataset as RemoteDataset
from privclust.service.remote import RemoteError as RemoteError
