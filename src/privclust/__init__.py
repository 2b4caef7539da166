"""privclust: cluster sensitive data and publish the result with a proof of privacy."""

__version__ = "0.1.0"
