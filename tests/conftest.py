"""Shared by all tests: helper modules beside a test can be imported, and no test is timed."""

import sys
from pathlib import Path

from hypothesis import settings

for folder in ("contract", "statistical", "privacy", "unit"):
    sys.path.insert(0, str(Path(__file__).parent / folder))

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
