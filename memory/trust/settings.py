"""The settings that widen trust, from the person's own configuration file; a workspace cannot change them."""

from __future__ import annotations

import os
import stat as st
from dataclasses import dataclass
from pathlib import Path

from memory.base.toml_text import read_toml
from memory.base.values import MAX_BYTES
from memory.errors import ConfigError

FILE = "memdeck/config.toml"
"""The path below `$XDG_CONFIG_HOME` (`~/.config`)."""


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """`private_hosts`: hosts of the own network that an approved workspace may request, without an approval of each.

    `engine` is the command that may replace the deterministic engine of project state, `engine_timeout` its seconds,
    `engine_environment` the names of the variables that it gets; each workspace needs its own approval of it.

    `problems` are sentences about a file that is refused; then none of its settings count.
    """

    private_hosts: frozenset[str] = frozenset()
    engine: str = ""
    engine_timeout: float = 120.0
    engine_environment: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_settings(config_home: Path, workspace: Path) -> TrustSettings:
    """Return the tables `[trust]` and `[state]` of the person's configuration; empty if there is none.

    The file counts only if it is the person's own, no one else can write it, and it is not in the workspace, however it
    is reached.
    """
    path = config_home / FILE
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return TrustSettings()
    except OSError as error:
        return _nothing(path, f"cannot be read ({error.strerror})")
    with os.fdopen(fd, "rb") as stream:
        found = os.fstat(fd)
        real, root = os.path.realpath(path), os.path.realpath(workspace)
        if not st.S_ISREG(found.st_mode):
            return _nothing(path, "is not a regular file")
        if real.startswith(root.rstrip("/") + "/"):
            return _nothing(path, "lies inside the workspace")
        if found.st_uid not in (os.geteuid(), 0):
            return _nothing(path, "belongs to another user")
        if found.st_mode & 0o022:
            return _nothing(path, "can be written by others")
        data = stream.read(MAX_BYTES + 1)
    try:
        tables = read_toml(data, str(path)).values
    except ConfigError as error:
        line = error.details["line"]
        words = error.message.removeprefix(f"{path}:{line}: ")
        return _nothing(path, f"cannot be understood (line {line}: {words})")
    table = tables.get("trust", {})
    hosts = table.get("private_hosts", []) if isinstance(table, dict) else None
    if not isinstance(hosts, list) or not all(isinstance(host, str) for host in hosts):
        return _nothing(path, "cannot be understood (private_hosts under [trust] is no list of texts)")
    try:
        engine, timeout, environment = _engine(tables.get("state", {}))
    except ValueError as error:
        return _nothing(path, f"cannot be understood ({error})")
    names = frozenset(host.strip().strip("[]").lower().rstrip(".") for host in hosts)
    return TrustSettings(names, engine, timeout, environment)


def _engine(table: object) -> tuple[str, float, tuple[str, ...]]:
    """Return command, seconds and variables of the engine; ValueError for invalid values."""
    if not isinstance(table, dict):
        raise ValueError("[state] is no table")
    engine, timeout = table.get("engine", ""), table.get("engine_timeout", 120)
    environment = table.get("engine_environment", [])
    if not isinstance(engine, str):
        raise ValueError("engine under [state] is no text")
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0 < timeout <= 3600:
        raise ValueError("engine_timeout under [state] is no number of seconds up to 3600")
    if not isinstance(environment, list) or not all(isinstance(name, str) for name in environment):
        raise ValueError("engine_environment under [state] is no list of texts")
    return engine.strip(), float(timeout), tuple(environment)


def _nothing(path: Path, why: str) -> TrustSettings:
    return TrustSettings(problems=(f"{path} {why}; nothing in it counts",))
