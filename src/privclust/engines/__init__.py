"""Engines beyond this process: their choice, Dask clusters, what runs on workers, and progress.

What every engine offers, and the one of this machine, are behind the door.
"""
