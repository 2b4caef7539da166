"""privclust: cluster sensitive data and publish the result with a proof of privacy."""

from privclust._lazy import names_of_stub

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
