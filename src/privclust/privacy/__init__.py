"""What privacy costs: losses, mechanisms, the noise beneath them and the meter of a fit.

This package and ``privclust.data`` are the two packages behind the door: what they compute from
rows leaves only through a mechanism.
"""
