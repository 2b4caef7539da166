from privclust.summary.answers import Summary as Summary
from privclust.summary.choosing import Choice as Choice
from privclust.summary.estimator import *
from privclust.summary.profiles import Profile as Profile
