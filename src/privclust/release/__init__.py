"""What may be published: released values with their privacy statement, saved without pickle.

Everything here is outside the door. It reads released values, and rows only when a caller passes
new ones to label; it can neither read private data nor draw noise.
"""

from privclust.release.document import About
from privclust.release.facts import Facts
from privclust.release.release import Release
from privclust.release.signature import Signature, create_key

__all__ = ["About", "Facts", "Release", "Signature", "create_key"]
