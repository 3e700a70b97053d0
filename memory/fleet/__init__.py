"""Many workspaces at once: one place to find, view and maintain them all. The files stay where they are."""

from __future__ import annotations
