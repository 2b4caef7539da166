"""Kernels: pure functions from one block of grid rows to an exact integer statistic."""
