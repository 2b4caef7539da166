from privclust.baselines.dphd import PrivateHighDimKMeans as PrivateHighDimKMeans
from privclust.baselines.estimators import PrivateNMF as PrivateNMF
from privclust.baselines.generating import PrivateWGAN as PrivateWGAN
from privclust.baselines.one_hot import PrivateOneHotKMeans as PrivateOneHotKMeans
