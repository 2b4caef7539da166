"""What may be published: released values with their privacy statement, saved without pickle.

Everything here is outside the door. It reads released values, and rows only when a caller hands
over new ones to label; it can neither read private data nor draw noise.
"""

from privclust.release.release import Release

__all__ = ["Release"]
