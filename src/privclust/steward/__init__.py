"""What the steward of rows checks before a fit: exact, NOT PRIVATE, and never a release."""
