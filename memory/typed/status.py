"""How large an agent's memory is, how old, how near to its limit, and what the next prune would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.errors import MemdeckError

from .aidefile import Aidefile
from .files import TYPES, AgentFiles, MemoryFile, Type, aidefile_of, look
from .locks import Holder, holder_of
from .prune import AgentPrune, plan_prune
from .registry import Agent
from .sizes import nanoseconds


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """One agent at one moment; `error` is why it could not be looked at, and then there is nothing else.

    `prune` is what a prune would do now.
    """

    agent: Agent
    aidefile: Aidefile | None
    found: AgentFiles
    prune: AgentPrune
    locks: tuple[Holder, ...]
    now_ns: int
    error: MemdeckError | None = None

    @property
    def files(self) -> Sequence[MemoryFile]:
        """All memory files."""
        return self.found.files

    def oldest(self, kind: Type | None = None) -> float | None:
        """Return the age of the oldest file of a type, or of all, in seconds; None without files."""
        ages = [file.age_ns(self.now_ns) for file in self.found.files if kind in (None, file.type)]
        return max(ages) / 1e9 if ages else None

    @property
    def limit(self) -> int | None:
        """How many tokens the Aidefile allows before memory should be compacted; None where it says nothing."""
        return self.aidefile.compact_after if self.aidefile else None

    @property
    def fill(self) -> float | None:
        """How much of the limit is used, 1.0 being all of it."""
        return None if self.limit is None else self.found.tokens / self.limit

    def json(self) -> dict[str, Any]:
        """Return the status as programs get it; ages are in seconds."""
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
            "missing_core": list(self.found.missing),
            "locks": [holder.json() for holder in self.locks],
            "error": None if self.error is None else {"code": self.error.code, "message": self.error.message},
        }


def status_of(agent: Agent, now: datetime) -> AgentStatus:
    """Look at an agent; nothing raises but what stops Python."""
    moment = nanoseconds(now)
    nothing = AgentFiles(())
    try:
        if not agent.folder.is_dir():
            raise MemdeckError("typed.no_folder", f"{agent.folder} is no folder", "mend its path in the registry")
        aidefile = aidefile_of(agent.folder)
    except MemdeckError as error:
        return AgentStatus(agent, None, nothing, AgentPrune(agent, error=error), (), moment, error)
    found = look(agent.folder, aidefile)
    locks = [holder_of(agent.folder, path.removesuffix(".lock")) for path in all_sentinels(found)]
    held = tuple(holder for holder in locks if holder is not None)
    return AgentStatus(agent, aidefile, found, plan_prune(agent, now, found), held, moment)


def all_sentinels(found: AgentFiles) -> tuple[str, ...]:
    """Return the sentinels beside memory files, those of core files outside of the two folders included."""
    own = {file.path + ".lock" for file in found.files if file.locked}
    return tuple(sorted(own | set(found.sentinels)))
