"""How large an agent's memory is, how old, how near to its limit, and what the next prune would take."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.errors import MemdeckError

from .aidefile import Aidefile
from .files import LOCK, TYPES, AgentFiles, Type, aidefile_of, look
from .locks import Holder, holder_of
from .prune import AgentPrune, May, no_folder, plan_prune
from .registry import Agent
from .sizes import nanoseconds


@dataclass(frozen=True, slots=True)
class AgentLook:
    """One agent as its files are; `error` is why it could not be looked at, and then there is nothing else."""

    agent: Agent
    aidefile: Aidefile | None
    found: AgentFiles
    locks: tuple[Holder, ...] = ()
    error: MemdeckError | None = None

    def at(self, now: datetime, may: May | None = None) -> AgentStatus:
        """Return how it stands at an aware time; `may` is asked whether its folders may be pruned."""
        plan = AgentPrune(self.agent, error=self.error) if self.error else _plan(self, now, may)
        return AgentStatus(self, plan, nanoseconds(now))


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """One agent at one moment; `prune` is what a prune would do now."""

    look: AgentLook
    prune: AgentPrune
    now_ns: int

    @property
    def agent(self) -> Agent:
        """The agent."""
        return self.look.agent

    @property
    def found(self) -> AgentFiles:
        """Its files."""
        return self.look.found

    def oldest(self, kind: Type | None = None) -> float | None:
        """Return the age of the oldest file of a type, or of all, in seconds; None without files."""
        ages = [file.age_ns(self.now_ns) for file in self.found.files if kind in (None, file.type)]
        return max(ages) / 1e9 if ages else None

    @property
    def limit(self) -> int | None:
        """How many tokens the Aidefile allows before memory should be compacted; None where it says nothing."""
        return self.look.aidefile.compact_after if self.look.aidefile else None

    @property
    def fill(self) -> float | None:
        """How much of the limit is used, 1.0 being all of it."""
        return None if self.limit is None else self.found.tokens / self.limit

    def json(self) -> dict[str, Any]:
        """Return the status as programs get it; ages are in seconds."""
        error = self.look.error
        return {
            "agent": self.agent.name,
            "path": str(self.agent.folder),
            "registered": self.agent.registered,
            "types": {
                kind: {
                    "files": len(self.found.of(kind)),
                    "bytes": self.found.size(kind),
                    "oldest_seconds": self.oldest(kind),
                }
                for kind in TYPES
            },
            "bytes": self.found.size(),
            "oldest_seconds": self.oldest(),
            "tokens": self.found.tokens,
            "compact_after": self.limit,
            "fill": None if self.fill is None else round(self.fill, 4),
            "over": self.fill is not None and self.fill > 1,
            "next_prune": {"files": len(self.prune.deleted), "bytes": self.prune.freed},
            "not_pruned": None if self.prune.error is None else self.prune.error.message,
            "missing_core": list(self.found.missing),
            "locks": [holder.json() for holder in self.look.locks],
            "error": None if error is None else {"code": error.code, "message": error.message},
        }


def _plan(look: AgentLook, now: datetime, may: May | None) -> AgentPrune:
    return plan_prune(look.agent, now, look.found, aidefile=look.aidefile, may=may)


def look_at(agent: Agent) -> AgentLook:
    """Look at the files of an agent; what is wrong with it as a whole is told as `error`."""
    try:
        if not agent.folder.is_dir():
            raise no_folder(agent)
        aidefile = aidefile_of(agent.folder)
    except MemdeckError as error:
        return AgentLook(agent, None, AgentFiles(()), error=error)
    found = look(agent.folder, aidefile)
    # Those of core files may stand outside of the two folders.
    sentinels = {file.path + LOCK for file in found.files if file.locked} | set(found.sentinels)
    locks = [holder_of(agent.folder, path.removesuffix(LOCK)) for path in sorted(sentinels)]
    return AgentLook(agent, aidefile, found, tuple(holder for holder in locks if holder is not None))


def status_of(agent: Agent, now: datetime, may: May | None = None) -> AgentStatus:
    """Return how an agent stands at an aware time; `may` as for `AgentLook.at`."""
    return look_at(agent).at(now, may)
