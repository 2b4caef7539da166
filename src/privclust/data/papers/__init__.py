"""Questions that only the baselines ask about numeric rows, with their door, view and kernels.

They are charged, noised, proved and tested as all others are; but no other estimator rests on them,
so they stand with the baselines and not with what everybody has to trust.
"""
