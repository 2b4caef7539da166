"""Data of a caller, opened: names and types are looked at, no row is read.

It stands before the door. What is opened goes to a door, which hands out noisy answers, and to the
holder's own objects, which answer exactly and are not a release.
"""
