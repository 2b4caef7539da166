"""The command line: what all commands share, and those of no family, registered in ``commands``.

Modules here import the library inside their commands, so that ``privclust --help`` starts at once.
"""

from privclust._lazy import names_of_stub

# The commands of the families import this package, and ``commands`` imports them.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
