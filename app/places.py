"""Where memdeck keeps what belongs to the person and not to a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from memory.person import config_home, home, state_home

__all__ = ["config_home", "home", "short_path", "state_home"]


def short_path(path: str, environ: Mapping[str, str]) -> str:
    """A folder as a person writes it, the home folder as `~`."""
    home = environ.get("HOME", "").rstrip("/")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + "/")) else path
