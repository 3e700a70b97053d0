"""Connects memdeck with other programs: lines of its own in their files, which can be taken away again."""
