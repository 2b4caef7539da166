"""What a command line and a service both do: find a place, publish a release, label rows.

Nothing here knows of a terminal or of HTTP: jobs take plain values, raise errors whose text is one
sentence, and return records that say what was done.
"""
