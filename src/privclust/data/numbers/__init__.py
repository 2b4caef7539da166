"""Columns of numbers without declared ranges, and counts of them in public cells."""
