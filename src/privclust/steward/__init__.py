"""What the steward of rows looks at before a fit: exact, NOT PRIVATE, and never a release."""
