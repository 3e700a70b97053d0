"""The settings that widen trust, from the person's own configuration file; a workspace cannot change them."""

from __future__ import annotations

import os
import stat as st
from pathlib import Path
from typing import NamedTuple

from memory.base.toml_text import read_toml
from memory.base.values import MAX_BYTES
from memory.errors import ConfigError

FILE = "memdeck/config.toml"
"""The path below `$XDG_CONFIG_HOME` (`~/.config`)."""


class TrustSettings(NamedTuple):
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


class NotOwn(Exception):
    """A file does not count as one of the person's configuration: the text is why, `code` says it in one word."""

    def __init__(self, code: str, why: str) -> None:
        """Create the error with its code: invalid, inside or private."""
        super().__init__(why)
        self.code = code


def read_own(path: Path, workspace: Path | None, closed: int, most: int) -> bytes | None:
    """Return the bytes of a file of the person's configuration, one more than `most` at most; None if there is none.

    NotOwn unless it is the person's, no mode bit of `closed` is set, and it is outside the workspace, however it is
    reached.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotOwn("invalid", f"cannot be read ({error.strerror})") from None
    with os.fdopen(fd, "rb") as stream:
        found = os.fstat(fd)
        if not st.S_ISREG(found.st_mode):
            raise NotOwn("invalid", "is not a regular file")
        if workspace is not None and os.path.realpath(path).startswith(os.path.realpath(workspace).rstrip("/") + "/"):
            raise NotOwn("inside", "is inside the workspace")
        if found.st_uid not in (os.geteuid(), 0):
            raise NotOwn("private", "belongs to another user")
        if found.st_mode & closed:
            verb = "read" if found.st_mode & closed & 0o044 else "written"
            raise NotOwn("private", f"can be {verb} by others")
        return stream.read(most + 1)


def read_settings(config_home: Path, workspace: Path) -> TrustSettings:
    """Return the tables `[trust]` and `[state]` of the person's configuration; empty if there is none.

    The file counts only if it is the person's own, no one else can write it, and it is not in the workspace, however it
    is reached.
    """
    path = config_home / FILE
    try:
        data = read_own(path, workspace, 0o022, MAX_BYTES)
        if data is None:
            return TrustSettings()
        tables = read_toml(data, str(path)).values
        table = tables.get("trust", {})
        hosts = table.get("private_hosts", []) if isinstance(table, dict) else None
        if not isinstance(hosts, list) or not all(isinstance(host, str) for host in hosts):
            raise ValueError("private_hosts under [trust] is not a list of strings")
        engine, timeout, environment = _engine(tables.get("state", {}))
    except NotOwn as error:
        return TrustSettings(problems=(f"{path} {error}; it is ignored",))
    except (ConfigError, ValueError) as error:
        why = str(error)
        if isinstance(error, ConfigError):
            line = error.details["line"]
            why = f"line {line}: " + error.message.removeprefix(f"{path}:{line}: ")
        return TrustSettings(problems=(f"{path} cannot be understood ({why}); it is ignored",))
    names = frozenset(host.strip().strip("[]").lower().rstrip(".") for host in hosts)
    return TrustSettings(names, engine, timeout, environment)


def _engine(table: object) -> tuple[str, float, tuple[str, ...]]:
    """Return command, seconds and variables of the engine; ValueError for invalid values."""
    if not isinstance(table, dict):
        raise ValueError("[state] is not a table")
    engine, timeout = table.get("engine", ""), table.get("engine_timeout", 120)
    environment = table.get("engine_environment", [])
    if not isinstance(engine, str):
        raise ValueError("engine under [state] is not text")
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0 < timeout <= 3600:
        raise ValueError("engine_timeout under [state] is not a number of seconds up to 3600")
    if not isinstance(environment, list) or not all(isinstance(name, str) for name in environment):
        raise ValueError("engine_environment under [state] is not a list of strings")
    return engine.strip(), float(timeout), tuple(environment)
