from privclust.cli.app import app as app
from privclust.cli.app import main as main
