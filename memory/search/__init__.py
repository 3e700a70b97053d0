"""Search over everything in the memory of a workspace."""
