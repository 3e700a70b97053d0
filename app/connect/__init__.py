"""Connects memdeck with other programs: adds lines to their files that can be removed again."""
