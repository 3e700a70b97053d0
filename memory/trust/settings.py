"""What widens trust, from the person's own configuration file; a workspace has no say in it."""

from __future__ import annotations

import os
import stat as st
from dataclasses import dataclass
from pathlib import Path

from memory.base.limits import MAX_BYTES
from memory.base.toml_text import read_toml
from memory.errors import ConfigError

FILE = "memdeck/config.toml"
"""The file beneath `$XDG_CONFIG_HOME` (`~/.config`)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`private_hosts`: hosts of the own network that an approved workspace may ask, without an approval of each.

    `problems` are sentences about a file that is not read as it is; then nothing in it counts.
    """

    private_hosts: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


def read_settings(config_home: Path, workspace: Path) -> Settings:
    """Return the table `[trust]` of the person's configuration; nothing where there is none.

    The file counts only if it is the person's own, nobody else can write it, and it does not lie in the workspace,
    whichever way it is reached.
    """
    path = config_home / FILE
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return Settings()
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
        table = read_toml(data, str(path)).values.get("trust", {})
    except ConfigError as error:
        line = error.details["line"]
        words = error.message.removeprefix(f"{path}:{line}: ")
        return _nothing(path, f"cannot be understood (line {line}: {words})")
    hosts = table.get("private_hosts", []) if isinstance(table, dict) else None
    if not isinstance(hosts, list) or not all(isinstance(host, str) for host in hosts):
        return _nothing(path, "cannot be understood (private_hosts under [trust] is no list of texts)")
    return Settings(frozenset(host.strip().strip("[]").lower().rstrip(".") for host in hosts))


def _nothing(path: Path, why: str) -> Settings:
    return Settings(problems=(f"{path} {why}; nothing in it counts",))
