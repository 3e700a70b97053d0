"""What belongs to the person who runs memdeck and to no workspace, as the environment names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DATABASE = "MEMDECK_DATABASE"
"""The variable that names the catalogue of a fleet of many hosts."""


def home(environ: Mapping[str, str]) -> Path:
    """Return the person's home folder: `$HOME`, or that of the system's list of users where it is not absolute.

    A relative one would be a folder of whatever repository the person stands in.
    """
    setting = environ.get("HOME", "")
    if os.path.isabs(setting):
        return Path(setting)
    from pwd import getpwuid

    try:
        listed = getpwuid(os.getuid()).pw_dir
    except KeyError:
        listed = ""
    return Path(listed if os.path.isabs(listed) else "/")


def state_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_STATE_HOME`, or `~/.local/state` where it is not set or not absolute."""
    return _named(environ, "XDG_STATE_HOME", ".local/state")


def config_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_CONFIG_HOME`, or `~/.config` where it is not set or not absolute."""
    return _named(environ, "XDG_CONFIG_HOME", ".config")


def agh_home(environ: Mapping[str, str], person: Path) -> Path:
    """Return `$AGH_HOME`, the folder of the person's curated memory, or `.agh` in `person` where it is not absolute."""
    setting = environ.get("AGH_HOME", "")
    return Path(setting) if os.path.isabs(setting) else person / ".agh"


def _named(environ: Mapping[str, str], name: str, beneath: str) -> Path:
    setting = environ.get(name, "")
    return Path(setting) if os.path.isabs(setting) else home(environ) / beneath


def host_name(environ: Mapping[str, str]) -> str:
    """The name of this machine, which `MEMDECK_HOST` may give."""
    import socket

    return environ.get("MEMDECK_HOST") or socket.gethostname()


def short_path(path: str, environ: Mapping[str, str]) -> str:
    """A folder as a person writes it, the home folder as `~`."""
    home = environ.get("HOME", "").rstrip("/")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + "/")) else path
