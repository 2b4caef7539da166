"""What the command line and the service share: checking paths, publishing, labelling rows.

Nothing here depends on a terminal or on HTTP: jobs take plain values, raise errors whose text is
one sentence, and return records that say what was done.
"""
