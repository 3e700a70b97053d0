"""One line of the inbox as a candidate, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memory.curated.control.candidate import Candidate
from memory.curated.model import TYPES, Header, Json, Provenance, Root
from memory.curated.places.roots import default_scope
from memory.errors import UsageError

if TYPE_CHECKING:
    from memory.curated.curated import Curated

_TEXTS = (
    "workspace_id", "scope", "agent_name", "agent_tier", "origin", "type", "name", "description", "evidence", "content",
    "entity", "attribute", "submitted_at", "idempotency_key",
)  # fmt: skip
_HEADER = ("name", "description", "type", "scope", "agent_name", "agent_tier", "provenance")
_WORDS = 8
"""Words of a content that serve as a name."""


class Elsewhere(Exception):
    """A line is about another workspace than this one: it waits there."""


def read_line(data: bytes, curated: Curated, side: str, session: str) -> Candidate:
    """Return a line of the inbox of a side (`global`, `workspace`) as a candidate of the extractor.

    UsageError `memory.extractor.line` for a line that is none, and what choosing a scope raises; Elsewhere. What lies
    in the inbox of a workspace may have come with a repository: it is about that workspace only.
    """
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(f"it is no JSON: {str(error)[:80]}") from None
    if not isinstance(values, dict):
        raise _bad("it is no JSON object")
    header = _part(values, "frontmatter")
    metadata = _part(values, "metadata")
    for key in values:
        if key not in (*_TEXTS, "frontmatter", "metadata"):
            raise _bad(f"unknown key {key[:40]!r}")
    for key in header:
        if key not in _HEADER:
            raise _bad(f"unknown key frontmatter.{key[:40]!r}")
    texts = {**{key: values.get(key) for key in _TEXTS}, **{key: header[key] for key in _HEADER[:6] if key in header}}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _bad(f"{key} is no text")
    if any(not isinstance(value, str) for value in metadata.values()):
        raise _bad("metadata holds more than texts")
    if texts["origin"] not in (None, "", "extractor"):
        raise _bad(f"its origin is {texts['origin']!r}, and the inbox is that of the extractor")
    kind, content = texts["type"] or "", (texts["content"] or "").strip()
    if kind not in TYPES:
        raise _bad(f"its type is {kind[:40]!r}, not one of {', '.join(TYPES)}")
    root = _root(curated, side, texts, kind)
    entity, attribute = texts["entity"] or "", texts["attribute"] or ""
    name = texts["name"] or " ".join((entity, attribute)).strip() or " ".join(content.split()[:_WORDS])
    description = texts["description"] or texts["evidence"] or next(iter(content.splitlines()), "")[:160]
    source = Provenance("extractor", (session,), "candidate")
    return Candidate(
        root, "extractor", Header(name, " ".join(description.split()), kind, root.scope, root.agent, root.tier, source),
        content, entity, attribute, {**metadata, "session_id": session}, texts["idempotency_key"] or None,
    )  # fmt: skip


def _root(curated: Curated, side: str, texts: Mapping[str, str | None], kind: str) -> Root:
    agent = texts["agent_name"] or None
    scope = texts["scope"] or ("agent" if agent else None)
    if scope is None:
        wanted = default_scope(kind)
        scope = wanted if side == "global" and wanted in curated.sides else side
    if scope != "agent":
        agent = None
    tier = texts["agent_tier"] or ("workspace" if "workspace" in curated.sides else "global")
    own = curated.workspace_id()
    about = texts["workspace_id"] or own
    if scope == "workspace" or (scope == "agent" and tier == "workspace"):
        if side == "global" and (about != own or "workspace" not in curated.sides):
            raise Elsewhere
        if about != own:
            raise _bad("it is about another workspace")
    root = curated.root(scope, agent, tier if scope == "agent" else None)
    if side == "workspace" and root.side != "workspace":
        raise _bad("the inbox of a workspace is about that workspace only")
    return root


def _part(values: Json, key: str) -> Json:
    part = values.get(key)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise _bad(f"{key} is no object")
    return part


def _bad(message: str) -> UsageError:
    return UsageError("memory.extractor.line", message, "mend it and put it into the inbox again")
