"""The values of curated memory: headers, folders of memories, memories, and files that are none."""

from __future__ import annotations

from typing import Any

from memory.named_tuple import NamedTuple

TYPES = ("user", "feedback", "project", "reference")
"""The closed list of types."""
SCOPES = ("global", "workspace", "agent")
TIERS = ("workspace", "global")
ORIGINS = ("cli", "http", "uds", "tool", "extractor", "dreaming", "file", "provider")
"""Who may propose a memory."""
AUTONOMOUS = ("extractor", "dreaming", "provider")
"""Origins without a person behind them."""
DEFAULT_SCOPE = {"user": "global", "feedback": "global", "project": "workspace", "reference": "workspace"}
"""The scope of a write that names none."""
INDEX = "MEMORY.md"
SYSTEM = "_system"
INBOX = "_inbox"

Json = dict[str, Any]


class Provenance(NamedTuple):
    """Where a memory comes from; times are texts as in the file, None for what is not said."""

    source_actor: str | None = None
    source_sessions: tuple[str, ...] = ()
    confidence: str | None = None
    superseded_by: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class Header(NamedTuple):
    """What the front matter of a memory says."""

    name: str
    description: str
    type: str
    scope: str
    agent: str | None = None
    agent_tier: str | None = None
    provenance: Provenance = Provenance()

    def json(self) -> Json:
        """Return it for programs; absent values are null."""
        source = self.provenance
        return {
            "name": self.name,
            "description": self.description,
            "type": self.type,
            "scope": self.scope,
            "agent_name": self.agent,
            "agent_tier": self.agent_tier,
            "provenance": {
                "source_actor": source.source_actor,
                "source_session_ids": list(source.source_sessions),
                "confidence": source.confidence,
                "superseded_by": source.superseded_by,
                "created_at": source.created_at,
                "updated_at": source.updated_at,
            },
        }

    def same(self, other: Header) -> bool:
        """Tell whether two headers say the same about the memory, whenever and by whomever they were written."""
        return (
            (self.name, self.description, self.type, self.scope, self.agent, self.agent_tier)
            == (other.name, other.description, other.type, other.scope, other.agent, other.agent_tier)
            and self.provenance.superseded_by == other.provenance.superseded_by
        )  # fmt: skip


class Root(NamedTuple):
    """One folder of memories: `side` names the store (`global`, `workspace`), `folder` is relative to its root.

    `depth` orders precedence: the deepest wins.
    """

    scope: str
    agent: str | None
    tier: str | None
    side: str
    folder: str
    depth: int

    @property
    def key(self) -> str:
        """What names it in the databases of its side."""
        return self.scope if self.scope != "agent" else f"agent:{self.tier}:{self.agent}"

    @property
    def label(self) -> str:
        """The scope as people read it, with the tier of an agent's."""
        return self.scope if self.scope != "agent" else f"agent/{self.tier}"

    def json(self) -> Json:
        """Return it as a selector for programs."""
        return {"scope": self.scope, "agent_name": self.agent, "agent_tier": self.tier}


def slug_of_file(name: str, kind: str) -> str:
    """Return what identifies a file beside its type: its name without ending and leading type, with hyphens."""
    return name.removesuffix(".md").removeprefix(f"{kind}_").replace("_", "-").lower()


def changed_at(mtime_ns: int, updated_at: str | None) -> float:
    """Return the older of a file's time and the time that a header names, in seconds; see `Memory.changed`."""
    from datetime import datetime

    stamp = mtime_ns / 1e9
    try:
        return min(stamp, datetime.fromisoformat(updated_at or "").timestamp())
    except ValueError:
        return stamp


class Memory(NamedTuple):
    """One memory as its file says; `hash` is the SHA-256 of the file's bytes, `mtime_ns` its time."""

    root: Root
    filename: str
    header: Header
    body: str
    hash: str
    mtime_ns: int

    @property
    def slug(self) -> str:
        """The name of the file without its type and ending; what identifies it together with the type."""
        return slug_of_file(self.filename, self.header.type)

    @property
    def changed(self) -> float:
        """When it was changed last, in seconds: as the header says, or its file where that is older.

        A copy of a repository has new files of old memories.
        """
        return changed_at(self.mtime_ns, self.header.provenance.updated_at)

    @property
    def id(self) -> str:
        """What names it among all memories of its side."""
        return f"{self.root.key}/{self.filename}"


class Invalid(NamedTuple):
    """A file that is no memory: why, and on which line (from 1; 0 for the file as a whole)."""

    root: Root
    filename: str
    line: int
    code: str
    reason: str

    def details(self) -> Json:
        """Return it as the details of an error."""
        return {"file": self.filename, "line": self.line, "reason": self.code, **self.root.json()}

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "filename": self.filename, **self.root.json(), "line": self.line, "code": self.code, "reason": self.reason
        }  # fmt: skip
