"""Where memdeck keeps what belongs to the person and not to a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from memory.person import config_home, home, state_home

__all__ = ["DATABASE", "config_home", "home", "host_name", "is_served", "short_path", "state_home"]

DATABASE = "MEMDECK_DATABASE"
"""The variable that names the catalogue of a fleet of many hosts."""


def host_name(environ: Mapping[str, str]) -> str:
    """The name of this machine, which `MEMDECK_HOST` may give."""
    import socket

    return environ.get("MEMDECK_HOST") or socket.gethostname()


def is_served(environ: Mapping[str, str]) -> bool:
    """Whether the application is shown by another program than a terminal, such as a browser."""
    return bool(environ.get("TEXTUAL_DRIVER"))


def short_path(path: str, environ: Mapping[str, str]) -> str:
    """A folder as a person writes it, the home folder as `~`."""
    home = environ.get("HOME", "").rstrip("/")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + "/")) else path
