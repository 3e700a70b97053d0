"""The typed memory of the agents in a workspace, as a system."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.items import Item, Skipped, Taken
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.base.values import say_size
from memory.errors import BlockedError, MemdeckError
from memory.search.records import Record, derived_ref
from memory.storage import Store
from memory.system import Advice, BriefLine, Contribution, System
from memory.workspace import Workspace

from .aidefile import NAME
from .pruning import AgentLook, AgentPrune, AgentStatus, ask_of, look_at, not_approved, prune, status_of
from .reading import KIND, agent_problems, records_of, registry_problems, shown_folder
from .registry import Agent, TypedReading, agents_of

if TYPE_CHECKING:
    from memory.maintenance.report import Report, RuleReport
    from memory.trust.asks import Ask

RULE = "prune-typed-memory"
_BASELINE = 1_000_000


class TypedLook(NamedTuple):
    """A snapshot of the agents of a workspace: their files, with sizes and ages.

    `approvals` is the state folder, `blocked` says for each agent why its folders may not be pruned, "" where they may.
    """

    agents: tuple[AgentLook, ...]
    approvals: Path | None = None
    blocked: tuple[str, ...] = ()

    def at(self, now: datetime) -> tuple[AgentStatus, ...]:
        """Return the status of each agent at an aware time."""
        return tuple(status_of(agent, now, self.approvals) for agent in self.agents)


class TypedMemory(System):
    """The agents of a workspace: those of the registry in it, and the workspace itself if it is an agent's folder."""

    name = "typed"

    def __init__(self, workspace: Workspace) -> None:
        """Keep the workspace; nothing is read yet."""
        self._workspace = workspace
        self._stores: dict[str, Store] = {}
        self._last: TypedLook | None = None

    # -- which agents -------------------------------------------------------------------------------------------

    def agents(self) -> tuple[Agent, ...]:
        """Return the agents; an unreadable registry adds none, and `check` reports its problems."""
        home, root = self._workspace.home, self._workspace.root
        try:
            agents = agents_of(root, home)
        except MemdeckError:
            agents = agents_of(root, None)
        for agent in agents:
            self.store(agent)
        return agents

    def present(self) -> bool:
        """Return whether there is any agent, or may be: it is unknown what an unreadable registry lists."""
        return bool(self.agents()) or bool(registry_problems(self._workspace.home, parsing=True))

    def store(self, agent: Agent) -> Store:
        """Return the store of an agent of the workspace; what a crash left there is finished or discarded first."""
        return self._store(shown_folder(agent.folder, self._workspace.root).rstrip("/"))

    def adopt(self, folder: str) -> None:
        """Add the folder (relative to the workspace) of an agent that is not registered, for its history."""
        self._store(folder)

    def _store(self, folder: str) -> Store:
        if folder not in self._stores:
            self._stores[folder] = self._workspace.add_store(
                folder, TypedReading(os.path.realpath(self._workspace.root / folder))
            )
        return self._stores[folder]

    def _shown(self, agent: Agent) -> str:
        return shown_folder(agent.folder, self._workspace.root)

    # -- looking ------------------------------------------------------------------------------------------------

    def look(self) -> TypedLook:
        """Return a snapshot of the agents; the same object as long as nothing changed."""
        agents, approvals = tuple(look_at(agent) for agent in self.agents()), self._workspace.state.folder.home
        found = TypedLook(agents, approvals, tuple(str(not_approved(approvals, one) or "") for one in agents))
        if self._last is None or _facts(found) != _facts(self._last):
            self._last = found
        return self._last

    def files(self) -> Iterable[str]:
        """Yield the Aidefiles, the core and the procedural files, except very large ones.

        Episodic files are scratch files: of them the log records only memdeck's own changes.
        """
        for look in self.look().agents:
            shown = self._shown(look.agent)
            yield shown + NAME
            for file in look.files:
                if file.type != "episodic" and file.size <= _BASELINE:
                    yield shown + file.path

    def folders(self) -> Iterable[str]:
        """Yield the folders with memory files, and the agents' own folders except the workspace itself."""
        for look in self.look().agents:
            shown = self._shown(look.agent)
            places = {file.path.rpartition("/")[0] for file in look.files}
            if look.aidefile is not None:
                places |= {look.aidefile.procedural.real, look.aidefile.episodic.real}
            yield from sorted(path for path in {(shown + place).rstrip("/") for place in {"", *places}} if path)

    def owns(self, name: str) -> bool:
        """Return whether a path, relative to the workspace, is an agent's Aidefile or in its memory."""
        for look in self.look().agents:
            shown = self._shown(look.agent)
            path = name.removeprefix(shown)
            if name.startswith(shown) and (path == NAME or (look.aidefile and look.aidefile.holds(path))):
                return True
        return False

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems of the registry, the Aidefiles, core files and locks, and lines with secrets."""
        found = [] if names is not None else list(registry_problems(self._workspace.home))
        for look in self.look().agents:
            found += agent_problems(look, self._shown(look.agent))
        return tuple(problem for problem in found if names is None or problem.file in names)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield a record for each `##` block of a Markdown file and for each other text file.

        A file that cannot be read or is very large is left out, and added to `refused` if that is given.
        """
        if kinds is not None and KIND not in kinds:
            return

        def passed(path: str, reason: str) -> None:
            if refused is not None:
                refused[path] = MemdeckError("file.unreadable", f"{path}: {reason}")

        for look in self.look().agents:
            yield from records_of(look, self._shown(look.agent), passed)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the blocks and files of all agents."""
        from memory.typed.exchange import items_of

        for look in self.look().agents:
            yield from items_of(look, self._shown(look.agent))

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Convert items to blocks of the agent that `place` names, or of the only one. If there is no agent, the
        workspace itself becomes one.
        """
        from memory.typed.exchange import agent_for, take

        root = self._workspace.root
        looks = self.look().agents or (look_at(Agent(root.name, root, registered=False)),)
        look = agent_for(looks, place)
        return take(look, self.store(look.agent), items, actor=actor, now=now)

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield the blocks of the core files, which an agent always has; a search answers messages."""
        for look in self.look().agents if not message.strip() else ():
            aidefile, shown = look.aidefile, self._shown(look.agent)
            for one in records_of(look, shown, lambda *_: None):
                if aidefile is not None and aidefile.is_core(one.file.removeprefix(shown)):
                    yield Contribution(self.name, derived_ref(one), one.title, one.text, "a core file", 1.0, "rules")

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return sizes, ages, tokens and what the next prune would delete, agent by agent."""
        agents = self.look().at(now)
        return {
            "agents": [agent.json() for agent in agents],
            "counts": {
                "agents": len(agents),
                "files": sum(len(agent.look.files) for agent in agents),
                "next_prune": sum(len(agent.prune.deleted) for agent in agents),
            },
        }

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield a line for each agent: how many files, how large, and how many the next prune deletes."""
        for status in self.look().at(now):
            look, gone = status.look, status.prune.deleted
            name = look.agent.name
            if look.error is not None:
                yield BriefLine(self.name, f"{name}:", name, look.error.message, "in trouble")
                continue
            words = f"{plural(len(look.files), 'file')}, {say_size(look.size())}"
            due = f"{len(gone):,} due for pruning" if gone else ""
            if isinstance(status.prune.error, BlockedError):
                due = "pruning needs approval"
            first = next(iter(gone or look.files), None)
            yield BriefLine(self.name, "" if first is None else f"{name}:{first.path}", name, words, due)

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield the locks whose process ended: no program will remove them, and memdeck does not by itself."""
        for look in self.look().agents:
            for holder in look.locks:
                if holder.dead:
                    words = f"the lock of {holder.path} of {look.agent.name} is stale: {holder.text()}"
                    yield Advice(words, f"`memdeck typed unlock {holder.path} --agent {look.agent.name}` removes it")

    # -- changing -----------------------------------------------------------------------------------------------

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Prune the registered agents of the workspace; agents that are not registered are not pruned.

        A failure in one file or agent is a warning and does not stop the rest.
        """
        from memory.maintenance.report import Report

        begun = time.perf_counter()
        rules, warnings, change = [], [], None
        blocked: list[Mapping[str, Any]] = []
        for agent in self.agents():
            if not agent.registered:
                continue
            pruned = self.prune(agent, now, actor=actor, dry_run=dry_run)
            rules.append(_rule(pruned, self._shown(agent)))
            change = pruned.change or change
            if pruned.error is not None:
                warnings.append(f"{agent.name}: {pruned.error.message}")
                blocked += pruned.error.details.get("blocked", ())
            warnings += [f"{agent.name}: {one.path}: {one.reason}" for one in pruned.errors]
        took = round((time.perf_counter() - begun) * 1000, 1)
        return Report(dry_run, now, tuple(rules), tuple(warnings), took, change=change, blocked=tuple(blocked))

    def prune(self, agent: Agent, now: datetime, *, actor: str, dry_run: bool = False) -> AgentPrune:
        """Prune one agent; see `memory.typed.pruning.prune`."""
        approvals = self._workspace.state.folder.home
        return prune(agent, self.store, now, actor=actor, dry_run=dry_run, approvals=approvals)

    def wants(self) -> Iterator[Ask]:
        """Yield the folders that a prune would delete from, agent by agent."""
        for look in self.look().agents:
            if look.aidefile is not None:
                yield ask_of(look)


def _rule(pruned: AgentPrune, shown: str) -> RuleReport:
    from memory.maintenance.report import Gone, RuleReport, Stays

    stays = (*pruned.skipped, *pruned.errors)
    kept = pruned.kept + len(stays)
    return RuleReport(
        RULE,
        shown.rstrip("/") or ".",
        kept + len(pruned.deleted),
        kept,
        0,
        len(pruned.deleted),
        moves=tuple(
            Gone(None, file.path, "the change log", file.changed.date().isoformat()) for file in pruned.deleted
        ),
        skipped=tuple(Stays(None, one.path, one.reason) for one in stays),
        what=("memory file", "pruned"),
        why="not changed for longer than files of their type are kept",
    )


def _facts(look: TypedLook) -> object:
    """Return what distinguishes two snapshots; errors are compared by their text."""
    return [(one, str(one.error or "")) for one in look.agents], look.blocked
