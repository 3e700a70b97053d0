"""The registry of agents, `~/.aide/config.toml` with `[[agents]]`, and the store of each agent's files.

A store is rooted in the agent's folder, with the change log of the workspace that contains it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory.base.toml_text import Toml, config_error, read_toml
from memory.base.values import MAX_BYTES
from memory.errors import ConfigError, MemdeckError, NotFoundError, RefusedError
from memory.registry import workspace_of
from memory.review.proposals import hold
from memory.storage import PrivateState, Store
from memory.storage.changes import PlainReading
from memory.storage.safe_open import read_start

from .aidefile import LOCK, NAME, PRIVATE

REGISTRY = ".aide/config.toml"
"""The registry, relative to the home folder."""
_TIMES = 16
"""How many times larger than other files the registry may be."""


@dataclass(frozen=True, slots=True)
class Agent:
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
