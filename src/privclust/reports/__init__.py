"""The pages that readers see: of a release, and of a ledger."""
