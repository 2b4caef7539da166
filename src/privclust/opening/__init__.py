"""Data of a caller, opened: names and types are read, rows are not.

It is in front of the door. Opened data go to a door, which gives noisy answers, and to the holder's
own objects, which answer exactly and are not a release.
"""
