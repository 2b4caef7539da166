"""Columns of numbers whose ranges nobody declared, and counts of them in public cells."""
