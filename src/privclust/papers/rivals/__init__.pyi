from privclust.papers.rivals.high_dim import PrivateHighDimKMeans as PrivateHighDimKMeans
from privclust.papers.rivals.nmf import PrivateNMF as PrivateNMF
from privclust.papers.rivals.one_hot import PrivateOneHotKMeans as PrivateOneHotKMeans
from privclust.papers.rivals.wgan import PrivateWGAN as PrivateWGAN
