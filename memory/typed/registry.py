"""The registry of agents, `~/.aide/config.toml` with `[[agents]]`, and the store of each agent's files.

A store is rooted in the agent's folder, with the change log of the workspace that contains it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.programs import is_alive
from memory.base.safe_text import visible
from memory.base.toml_text import Toml, config_error, read_toml
from memory.base.values import MAX_BYTES
from memory.errors import BusyError, ConfigError, MemdeckError, NotFoundError, RefusedError, write_failed
from memory.registry import workspace_of
from memory.review.proposals import hold
from memory.storage import PrivateState, Store, fsio
from memory.storage.changes import PlainReading
from memory.storage.own_folders import host_name
from memory.storage.safe_open import read_start
from memory.typed.aidefile import LOCK, NAME, PRIVATE

REGISTRY = ".aide/config.toml"
"""The registry, relative to the home folder."""
_TIMES = 16
"""How many times larger than other files the registry may be."""


class Agent(NamedTuple):
    """An agent: its name, and its folder with links resolved.

    `registered` is False for an agent that was named only by its path.
    """

    name: str
    folder: Path
    registered: bool = True


def read_registry(home: Path | None) -> tuple[Agent, ...]:
    """Return the agents of a home folder in file order; none without a registry or without a home.

    A relative path starts at the registry's folder, `~` is `home`. Raises ConfigError `typed.toml`, `typed.registry`
    (an agent without a name or path, a duplicate name) with `file` and `line`, RefusedError `file.unreadable` and
    `file.not_regular`.
    """
    if home is None:
        return ()
    place = home / REGISTRY
    shown = f"~/{REGISTRY}"
    try:
        data = read_start(place, _TIMES * MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        words = error.strerror or str(error)
        raise RefusedError("file.unreadable", f"{shown} cannot be read ({words})", "check its permissions") from None
    toml = read_toml(data, shown, times=_TIMES)
    listed = toml.values.get("agents", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        line = toml.line_of("agents")
        raise config_error("typed.registry", "agents is not a list of sections", shown, line, "write [[agents]]")
    agents: dict[str, Agent] = {}
    for number, one in enumerate(listed):
        name, path = one.get("name"), one.get("path")
        if not isinstance(name, str) or not name.strip():
            raise _wrong(toml, number, "name", "an agent needs a name", shown)
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise _wrong(toml, number, "path", f"the agent {name[:60]!r} needs a path", shown)
        if name in agents:
            raise _wrong(toml, number, "name", f"two agents are called {name[:60]!r}", shown)
        agents[name] = Agent(name, _folder(path, home, place.parent))
    return tuple(agents.values())


def _wrong(toml: Toml, number: int, key: str, message: str, shown: str) -> ConfigError:
    return config_error("typed.registry", message, shown, toml.line_of("agents", number, key))


def _folder(path: str, home: Path, beside: Path) -> Path:
    if path == "~" or path.startswith("~/"):
        path = os.path.join(home, path[2:])
    return Path(os.path.realpath(os.path.join(beside, path)))


def agent_above(path: str) -> Agent | None:
    """Return the agent in the nearest folder upwards from an absolute path with an Aidefile, None where there is none.

    It counts as not registered.
    """
    folder = next((folder for folder in Path(path).parents if (folder / NAME).is_file()), None)
    return None if folder is None else Agent(folder.name, folder, registered=False)


def find_agent(named: str, home: Path | None, agents: tuple[Agent, ...] | None = None) -> Agent:
    """Return the agent with a name, or the one in a folder that holds an Aidefile, named by its path.

    Names come first. NotFoundError `typed.no_agent`; other errors as in `read_registry`.
    """
    known = read_registry(home) if agents is None else agents
    folder = Path(os.path.realpath(named)) if named and "\0" not in named else None
    found = [agent for agent in known if agent.name == named] or [agent for agent in known if agent.folder == folder]
    if found:
        return found[0]
    if folder is not None and (folder / NAME).is_file():
        return Agent(folder.name, folder, registered=False)
    names = ", ".join(agent.name for agent in known)
    raise NotFoundError(
        "typed.no_agent",
        f"no agent is called {named[:80]!r}, and no folder of that path has an {NAME}",
        f"the agents are {names}" if names else f"list it under [[agents]] in ~/{REGISTRY}",
        agent=named,
        agents=[agent.name for agent in known],
    )


def agents_of(root: Path, home: Path | None) -> tuple[Agent, ...]:
    """Return the agents of a workspace: the registered ones inside it, but not inside a workspace within it.

    The workspace itself is also an agent if it holds an Aidefile, registered or not. Errors as in `read_registry`.
    """
    top = os.path.realpath(root)
    found = tuple(
        agent
        for agent in read_registry(home)
        if f"{agent.folder}/".startswith(top.rstrip("/") + "/") and workspace_of(str(agent.folder)) in (top, None)
    )
    if os.path.isfile(os.path.join(top, NAME)) and all(str(agent.folder) != top for agent in found):
        found = (Agent(os.path.basename(top), Path(top), registered=False), *found)
    return found


# -- stores ----------------------------------------------------------------------------------------------------------


class TypedReading(PlainReading):
    """Reads an agent's files for the history: Markdown by sections, any other file as bytes."""

    def __init__(self, folder: str = "") -> None:
        """`folder` is the agent's folder, whose name is the agent's name in the history."""
        self._owner = f"agent:{folder.rpartition('/')[2]}"

    def owner(self, path: str) -> str | None:
        """Return the agent that owns a file; None for the Aidefile and the core files, which a person sets up."""
        return None if self.lasts(path) else self._owner

    def knows(self, path: str) -> bool:
        """Return whether a file belongs to the agent: any but sentinels and memdeck's own."""
        return not path.endswith(LOCK) and PRIVATE not in path.split("/")

    def lasts(self, path: str) -> bool:
        """Return whether a path is the Aidefile or in a folder `core`; other files are made and expire."""
        return path == "Aidefile" or "core" in path.split("/")[:-1] or path.endswith("/core.md")


def root_of(folder: Path) -> Path:
    """Return the workspace that contains an agent's folder, or the folder itself: what is approved and logged there
    counts for the agent.
    """
    real = os.path.realpath(folder)
    return Path(workspace_of(real) or real)


def store_of(folder: Path, state_home: Path | None, home: Path | None = None) -> Store:
    """Return the store of an agent; its lock and history are the same wherever the caller is.

    They are those of the workspace that contains the folder, or of the folder itself. `state_home` is None for the one
    that the environment names, `home` the person's home folder.
    """
    real, root = os.path.realpath(folder), root_of(folder)
    state = PrivateState(state_home, root, home)
    return Store(Path(real), state=state, workspace=root, reading=TypedReading(real), gate=hold)


def path_in(store: Store, path: str | os.PathLike[str]) -> str:
    """Return a path of an agent's file relative to its folder, links of folders resolved.

    `path` is absolute, or relative to the agent's folder. Raises MemdeckError `typed.outside`.
    """
    top = os.path.realpath(store.root)
    text = os.fspath(path)
    if not text or "\0" in text:
        raise MemdeckError("typed.outside", "an empty path names no file", "name a file of the agent")
    place = os.path.join(top, text)
    folder, name = os.path.split(os.path.normpath(place))
    real = os.path.join(os.path.realpath(folder), name)
    if not real.startswith(top.rstrip("/") + "/"):
        raise MemdeckError(
            "typed.outside", f"{text[:200]!r} is outside of the agent's folder", "name a file of the agent", path=text
        )
    return real[len(top.rstrip("/")) + 1 :]


def outside(root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the stores of the registered agents outside of a workspace; none where the registry cannot be read."""
    with suppress(MemdeckError):
        inside = {agent.folder for agent in agents_of(root, home)}
        for agent in read_registry(home):
            if agent.folder not in inside and agent.folder.is_dir():
                yield store_of(agent.folder, state_home, home)


_SHOWN = 400


class Holder(NamedTuple):
    """The holder of a lock according to its sentinel: process, host, and time as written."""

    path: str
    pid: int | None
    host: str
    time: str

    @property
    def dead(self) -> bool:
        """Whether the process was one of this machine and no longer exists, so that it will never remove the lock."""
        return self.pid is not None and self.host == host_name(os.environ) and not is_alive(self.pid)

    def text(self) -> str:
        """Return the holder for people to read."""
        if self.pid is None:
            return "an unknown program"
        where = f" on {self.host}" if self.host != host_name(os.environ) else ""
        since = f" since {self.time}" if self.time else ""
        return visible(f"process {self.pid}{where}{since}{', which is gone' if self.dead else ''}")

    def json(self) -> dict[str, Any]:
        """Return the lock for programs."""
        return {"path": self.path, "pid": self.pid, "host": self.host, "time": self.time, "stale": self.dead}


def holder_of(folder: Path | str, path: str) -> Holder | None:
    """Return the holder of the lock of a file (`path` from the folder on), None where it is not locked.

    A link or anything else under the sentinel's name counts as a lock, and is not read.
    """
    place = os.path.join(folder, path + LOCK)
    if not os.path.lexists(place):
        return None
    try:
        words = read_start(place, _SHOWN, follow=False).decode("utf-8", "replace").split()
    except (OSError, RefusedError):
        words = []
    number = words[0] if words else ""
    usable = number.isascii() and number.isdigit() and len(number) < 11 and 0 < int(number) < 1 << 31
    pid = int(number) if usable else None
    return Holder(path, pid, words[1] if len(words) > 1 else "", words[2] if len(words) > 2 else "")


def refuse_locked(folder: Path | str, path: str, owner: int | None = None) -> None:
    """Raise BusyError `typed.locked` where another process holds the lock of a file.

    `owner` is the process that makes the change (default: this one); its own lock does not block it.
    """
    holder = holder_of(folder, path)
    own = (os.getpid() if owner is None else owner, host_name(os.environ))
    if holder is not None and (holder.pid, holder.host) != own:
        raise held(holder)


def held(holder: Holder) -> BusyError:
    """Return the error for a lock that another process holds."""
    hint = "unlock it if that is the case" if holder.dead else "wait until it is unlocked"
    return BusyError("typed.locked", f"{visible(holder.path)} is locked by {holder.text()}", hint, **holder.json())


def lock_file(store: Store, path: str, *, now: datetime, owner: int | None = None) -> Holder:
    """Make the sentinel of a file, which need not exist; BusyError `typed.locked` names the holder.

    The sentinel is made in one step that only one caller can win. It is not a change of memory, so no history has it.
    The caller has checked that the file is one of the agent's memory.
    """
    pid = os.getpid() if owner is None else owner
    time = now.astimezone(UTC).replace(microsecond=0).isoformat()
    text = f"{pid} {host_name(os.environ)} {time}\n".encode()
    try:
        _beside(store, path, lambda name, folder: os.close(fsio.write_new(name, folder, text, durable=False)), made=[])
    except FileExistsError:
        raise held(holder_of(store.root, path) or Holder(path, None, "", "")) from None
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return holder_of(store.root, path) or Holder(path, pid, "", "")


def unlock_file(store: Store, path: str) -> bool:
    """Remove the sentinel of a file, also that of another process, and return whether it existed."""
    if not os.path.lexists(store.root / (path + LOCK)):
        return False
    try:
        _beside(store, path, fsio.remove)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return True


def _beside(store: Store, path: str, act: Callable[[str, int], object], made: list[str] | None = None) -> None:
    """Do something with the sentinel of a file: `act` gets its name and its open folder."""
    store.check_path(path)
    *parents, name = store.shown(path).split("/")
    folder = fsio.open_folder(parents, store.workspace, made=made)
    try:
        act(name + LOCK, folder)
    finally:
        os.close(folder)
