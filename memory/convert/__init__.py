"""Conversion between memory systems, and from the files of other tools, with a report of what cannot be converted."""
