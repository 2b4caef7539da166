"""``python -m privclust``: the command line where no script is installed."""

from privclust.cli.commands import main

main()
