"""Questions that only papers and rivals ask: behind the door, but not part of the product."""
