"""A realistic workspace, and two sets of forty messages with what answers each."""
