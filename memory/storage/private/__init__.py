"""The private state of memdeck outside of a workspace: small records, settings, drafts, the list of workspaces."""

from __future__ import annotations
