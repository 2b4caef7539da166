"""``python -m privclust``: the command line where no script is installed."""

from privclust.cli import main

main()
