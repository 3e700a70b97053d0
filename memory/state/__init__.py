"""Project state: the canonical memory of a repository, with its events, checkpoints, recall and projections."""

from __future__ import annotations
