"""Where memories are: the identity of a workspace, scopes and their folders, settings."""

from __future__ import annotations
