"""What the verbs of `memdeck typed` share: their group, the options on agents, the stores of agents."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from app.cli.printing import tell
from app.cli.session import Session
from memory.errors import NotFoundError, UsageError
from memory.operations import Group, option
from memory.storage import Change, Store
from memory.storage.own_folders import home, state_home
from memory.typed.consent import may_prune
from memory.typed.ops import agent_folder
from memory.typed.registry import Agent, find_agent, read_registry
from memory.typed.status import May
from memory.typed.stores import path_in, store_of
from memory.typed.writes import AgentWriter

typed = Group(
    "typed",
    """The typed memory of agents: files of the types core, procedural and episodic.

    Agents are listed in ~/.aide/config.toml, and the Aidefile in an agent's folder says where each type of its memory
    is. A path is relative to the current folder, with --agent to the agent's folder.
    """,
)
one_agent = option("--agent", metavar="NAME", help="One agent only: its name, or the path of its folder.")
of_agent = option("--agent", metavar="NAME", help="The agent whose file it is: its name, or the path of its folder.")
ignoring_lock = option("--ignore-lock", is_flag=True, help="Write even if somebody else has locked the file.")


class AgentStores:
    """The agents and stores that a verb works with."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @cached_property
    def home(self) -> Path:

        return home(os.environ)

    def agents(self, named: str | None, *, here: bool = False) -> tuple[Agent, ...]:
        """Return one agent, or all registered ones; `here` adds the agent whose folder contains the current folder."""
        agents = tuple(agent for agent in read_registry(self.home) if self._reached(str(agent.folder)))
        if named is not None:
            found = find_agent(named, self.home, agents)
            if not self._reached(str(found.folder)):
                raise NotFoundError(
                    "typed.no_agent",
                    f"the agent {named[:80]!r} is outside of this workspace",
                    "name one of this workspace",
                    agent=named,
                )
            return (found,)
        if here:
            folder = agent_folder(os.path.join(os.path.realpath(self.session.folder or "."), "Aidefile"))
            if folder is not None and self._reached(folder) and all(str(agent.folder) != folder for agent in agents):
                agents = (*agents, Agent(os.path.basename(folder), Path(folder), registered=False))
        return agents

    def _reached(self, folder: str) -> bool:
        """Return whether a folder may be used: programs behind a server may use only those in the workspace."""
        if not self.session.served:
            return True
        root = os.path.realpath(self.session.workspace.root)
        return (os.path.realpath(folder) + "/").startswith(root.rstrip("/") + "/")

    def store(self, agent: Agent) -> Store:

        return store_of(agent.folder, state_home(os.environ), self.home)

    def writer(self, store: Store, *, ignore_lock: bool) -> AgentWriter:
        """Return the writer of an agent's files for the process that calls this verb."""
        return AgentWriter(store, self.session.now, self.session.actor, os.getppid(), ignore_lock)

    def may_prune(self) -> May:
        """Return a function that tells whether the folders of an agent may be pruned."""
        return may_prune(state_home(os.environ))

    def of_path(self, path: str, named: str | None) -> tuple[Store, str]:
        """Return the store of a file, and its path in it."""
        if named is not None:
            store = self.store(self.agents(named)[0])
            return store, path_in(store, path)
        full = os.path.abspath(os.path.join(self.session.folder or ".", path))
        folder = agent_folder(full)
        if folder is None or not self._reached(folder):
            raise UsageError(
                "typed.no_agent_here", f"{path} lies in no folder with an Aidefile", "name the agent with --agent"
            )
        store = self.store(Agent(os.path.basename(folder), Path(folder), registered=False))
        return store, path_in(store, full)

    def done(self, store: Store, change: Change, document: dict[str, Any], words: str) -> None:
        """Print what a change did."""
        self.session.made = words if change.files else None
        for warning in store.history.warnings:
            tell(f"memdeck: warning: {warning}")
        answer = {**document, "change": change.id if change.files else None}
        self.session.answer(lambda: answer, lambda: [self.session.paint.line(words)])


def files(count: int) -> str:
    """Return a number of files in words."""
    return f"{count:,} {'file' if count == 1 else 'files'}"
