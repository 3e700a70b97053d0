"""Where memdeck keeps what belongs to the person and not to a workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_STATE_HOME`, or `~/.local/state` where it is not set or not absolute."""
    return _home(environ, "XDG_STATE_HOME", ".local/state")


def config_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_CONFIG_HOME`, or `~/.config` where it is not set or not absolute."""
    return _home(environ, "XDG_CONFIG_HOME", ".config")


def home(environ: Mapping[str, str]) -> Path:
    """Return the person's home folder."""
    return Path(environ.get("HOME") or os.path.expanduser("~"))


def short_path(path: str, environ: Mapping[str, str]) -> str:
    """A folder as a person writes it, the home folder as `~`."""
    home = environ.get("HOME", "").rstrip("/")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + "/")) else path


def _home(environ: Mapping[str, str], name: str, beneath: str) -> Path:
    setting = environ.get(name, "")
    if os.path.isabs(setting):
        return Path(setting)
    return Path(environ.get("HOME") or os.path.expanduser("~"), beneath)
