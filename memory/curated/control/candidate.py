"""A candidate: a proposal to remember, change or forget something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from memory.curated.files.header import fault_of
from memory.curated.model import ORIGINS, Header, Json, Root
from memory.errors import UsageError

LONGEST = 160
"""The most characters of a description made of a text."""
DELETING = ("delete", "forget", "remove")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal for one folder of memories. `content` is the body; `header` is None where the memory is to be deleted.

    `entity` and `attribute` name the fact that it is about. `metadata` may hold `operation` (delete, forget, remove),
    `target_filename` or `filename`, and `reason`; other keys are only hashed. `key` is the caller's own idempotency
    key. `edits` says that the file named by `target_filename` exists and is to be changed, `base` is the SHA-256 of the
    bytes from which the change started. `only_new` says that no existing memory may be changed.
    """

    root: Root
    origin: str
    header: Header | None
    content: str
    entity: str = ""
    attribute: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    edits: bool = False
    base: str | None = None
    workspace_id: str = ""
    only_new: bool = False

    @property
    def deletes(self) -> bool:
        """Whether it proposes to forget a memory."""
        return (self.metadata.get("operation") or self.metadata.get("op") or "").lower() in DELETING

    @property
    def target(self) -> str | None:
        """The file that it names, None where the file is chosen by the memory's name."""
        return self.metadata.get("target_filename") or self.metadata.get("filename") or None

    @property
    def hash(self) -> str:
        """The SHA-256 of its content; the time of the proposal is not part of it."""
        values = {
            "agent_name": self.root.agent,
            "agent_tier": self.root.tier,
            "attribute": self.attribute,
            "content": self.content.strip(),
            "entity": self.entity,
            "frontmatter": None if self.header is None else self.header.json(),
            "metadata": sorted(self.metadata.items()),
            "origin": self.origin,
            "scope": self.root.scope,
            "workspace_id": self.workspace_id,
        }
        text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())

    def check(self) -> None:
        """Raise UsageError `memory.validation` for what needs no rule: no content, no name, an unknown type."""
        if self.origin not in ORIGINS:
            raise _invalid("origin", f"{self.origin[:40]!r} is no origin")
        if self.metadata.get("raw_content") is not None:
            raise _invalid("raw_content", "the controller writes the file itself, it takes no raw content")
        if self.deletes:
            if not self.target:
                raise _invalid("target_filename", "a memory to delete is named by its file")
            return
        if self.header is None:
            raise _invalid("frontmatter", "name, description and type are missing")
        values: Json = {**self.header.json(), "agent": self.header.agent}
        fault = fault_of(values)
        if fault is not None:
            raise _invalid(*fault)
        if not self.content.strip():
            raise _invalid("content", "the content is empty")


def _invalid(name: str, message: str) -> UsageError:
    return UsageError("memory.validation", message, field=name)


def first_line(text: str) -> str:
    """Return the beginning of the first line with text, which describes a memory without a description."""
    return next((" ".join(line.split())[:LONGEST] for line in text.splitlines() if line.strip()), "")


def slot(text: str) -> str:
    """Return an entity or attribute in the form used for comparison: in lower case, with single spaces."""
    return " ".join(text.casefold().split())
