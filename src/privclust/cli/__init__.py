"""The command line: one small module per family of commands, registered in ``commands``.

Modules here import the library inside their commands, so that ``privclust --help`` starts at once.
"""

from privclust.cli.commands import app, main

__all__ = ["app", "main"]
