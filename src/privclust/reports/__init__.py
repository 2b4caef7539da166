"""The pages for readers of a release or of a ledger."""
