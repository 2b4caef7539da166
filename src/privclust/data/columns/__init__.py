"""Typed columns: how a value becomes a number, a category or an id, each by itself."""
