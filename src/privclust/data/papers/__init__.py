"""Questions that only papers and rivals ask: behind the door, and not of the product."""
