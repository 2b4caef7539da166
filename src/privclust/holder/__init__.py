"""Exact answers about single rows, for their holder.

Nothing here is noisy and nothing is a release: labels, distances and coordinates go back to the
holder of the rows. Code that asks, keeps or publishes cannot import it; see the import contracts.
"""
