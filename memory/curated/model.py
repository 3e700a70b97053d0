"""The values of curated memory: headers, folders of memories, memories, files that are not memories, and shadowing."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from memory.base.clock import read_utc

TYPES = ("user", "feedback", "project", "reference")
"""The closed list of types."""
SCOPES = ("global", "workspace", "agent")
TIERS = ("workspace", "global")
ORIGINS = ("cli", "http", "uds", "tool", "extractor", "dreaming", "file", "provider")
"""The sources that may propose a memory."""
AUTONOMOUS = ("extractor", "dreaming", "provider")
"""Origins without a person behind them."""
DEFAULT_SCOPE = {"user": "global", "feedback": "global", "project": "workspace", "reference": "workspace"}
"""The scope of a write that names none, by type; never `agent`."""
INDEX = "MEMORY.md"
SYSTEM = "_system"

Json: TypeAlias = "dict[str, Any]"


class OperationCall(NamedTuple):
    """The context of a call: the time, the actor, and the interface."""

    now: datetime
    actor: str = "cli"
    origin: str = "cli"


class Provenance(NamedTuple):
    """The origin of a memory; times are texts as in the file, None where missing."""

    source_actor: str | None = None
    source_sessions: tuple[str, ...] = ()
    confidence: str | None = None
    superseded_by: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class Header(NamedTuple):
    """The front matter of a memory."""

    name: str
    description: str
    type: str
    scope: str
    agent: str | None = None
    agent_tier: str | None = None
    provenance: Provenance = Provenance()

    def json(self) -> Json:
        """Return it for programs; absent values are null."""
        found = self._asdict()
        source = self.provenance._asdict()
        found["agent_name"] = found.pop("agent")
        source["source_session_ids"] = list(source.pop("source_sessions"))
        return {**found, "provenance": source}

    def same(self, other: Header) -> bool:
        """Return whether two headers are equal, ignoring who wrote them and when."""
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
        """The key of the folder in the databases of its side."""
        return self.scope if self.scope != "agent" else f"agent:{self.tier}:{self.agent}"

    @property
    def label(self) -> str:
        """The scope for people to read, with the tier of an agent's folder."""
        return self.scope if self.scope != "agent" else f"agent/{self.tier}"

    def json(self) -> Json:
        """Return it as a selector for programs."""
        return {"scope": self.scope, "agent_name": self.agent, "agent_tier": self.tier}


FOLDER = "memory"
"""The folder of memories of a store, and below that of an agent."""
GLOBAL = Root("global", None, None, "global", FOLDER, 0)
WORKSPACE = Root("workspace", None, None, "workspace", FOLDER, 1)
DREAM = "project_dreaming-"
"""The beginning of the name of the file that a dream writes; a day such as `2026-01-15` follows."""


class Memory(NamedTuple):
    """One memory as read from its file; `hash` is the SHA-256 of the file's bytes, `mtime_ns` its time.

    `edited_ns` is when its text was changed by hand, as far as the catalogue saw it; 0 for never.
    """

    root: Root
    filename: str
    header: Header
    body: str
    hash: str
    mtime_ns: int
    edited_ns: int = 0

    @property
    def slug(self) -> str:
        """The file name without type and ending, with hyphens; it identifies the memory together with the type."""
        return self.filename.removesuffix(".md").removeprefix(f"{self.header.type}_").replace("_", "-").lower()

    @property
    def identity(self) -> tuple[str, str]:
        """Its type and slug: of several memories with one identity the deepest counts."""
        return self.header.type, self.slug

    @property
    def changed(self) -> float:
        """When it was last changed, in seconds: the time in the header, or the file's where that is older.

        In a copy of a repository, old memories are in new files. A later edit by hand makes a memory new.
        """
        stamp, written = self.mtime_ns / 1e9, read_utc(self.header.provenance.updated_at or "")
        return max(stamp if written is None else min(stamp, written.timestamp()), self.edited_ns / 1e9)

    @property
    def whole(self) -> str:
        """Its text as agents are told it and a search looks through it, without the name."""
        described = self.body.startswith(self.header.description)
        return self.body if described else f"{self.header.description}\n{self.body}"

    @property
    def is_dream(self) -> bool:
        """Whether dreaming gathered it from other memories: it is listed and shown, and never recalled beside them."""
        day = self.filename.removeprefix(DREAM).removesuffix(".md").replace("-", "")
        named = self.filename.startswith(DREAM) and day.isdigit()  # even if it was edited since
        return named or self.header.provenance.source_actor == "dreaming"

    @property
    def id(self) -> str:
        """The id of the memory within its side."""
        return f"{self.root.key}/{self.filename}"

    @property
    def key(self) -> str:
        """The key of the memory, unique among those of both sides."""
        return f"{self.root.side}:{self.id}"


class Invalid(NamedTuple):
    """A file that is not a memory: why, and on which line (from 1; 0 for the file as a whole)."""

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
