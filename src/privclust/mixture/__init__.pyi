from privclust.mixture.estimator import PrivateGaussianMixture as PrivateGaussianMixture
from privclust.mixture.predicting import Mixture as Mixture
