from privclust.cli.commands import app as app
from privclust.cli.commands import main as main
