"""``python -m privclust``: the command line without an installed script."""

from privclust.cli.commands import main

main()
