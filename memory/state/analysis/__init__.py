"""A bundle made from a repository without a model: its purpose, where to begin, how it is tested, open work.

Everything in the repository is untrusted: only files below its root are read, bounded in number and size, and nothing
of it is run, not even through git.
"""

from __future__ import annotations
