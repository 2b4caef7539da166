"""Typed columns: how each value, by itself, becomes a number, a category or an id."""
