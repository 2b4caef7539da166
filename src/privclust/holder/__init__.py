"""Exact answers about single rows, for whoever holds the rows.

Nothing here is noisy and nothing is a release: labels, distances and coordinates go back to whoever
brought the rows. What asks, keeps and publishes cannot import it; see the import contracts.
"""
