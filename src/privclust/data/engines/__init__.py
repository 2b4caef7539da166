"""Engines: map a kernel over the blocks of a source and add up the results."""
