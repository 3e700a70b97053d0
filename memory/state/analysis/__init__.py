"""A bundle from a repository as it is, without a model: what it is, where to begin, how it is tested, what is open.

Everything in the repository is foreign: files are read beneath its root only, bounded in number and size, and nothing
of it is run, not even through git.
"""

from __future__ import annotations

from .analyse import analyse

__all__ = ["analyse"]
