"""The frozen snapshot at the beginning of a session: the indexes of its folders, captured once and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.told import harmless, why_not
from memory.curated.curated import Curated
from memory.curated.files.listing import INDEX_KIND, capped, index_lines, rendered, suspicious_passages
from memory.curated.model import INDEX, Memory, Root
from memory.curated.providers.calls import prompt_block, session_began
from memory.errors import MemdeckError

from .recall import RecallOptions, days_since, recall, turn_block

LARGEST = 24_000
"""The most characters of a snapshot."""
_HEADINGS = {
    ("global", None): "Global MEMORY.md Index",
    ("workspace", None): "Workspace MEMORY.md Index",
    ("agent", "global"): "Agent Global MEMORY.md Index",
    ("agent", "workspace"): "Agent Workspace MEMORY.md Index",
}
_INTRO = "# Persistent Memory\n\nOnly the indexes of memories are part of this prompt; read an entry when it matters."
_STALE = "*MEMORY.md is outdated: this index is made of the memories themselves.*"
_CUT = "*The index is longer: the rest is left out.*"
_TAXONOMY = (
    "## Memory Taxonomy\n\n- user: preferences and working style of the person\n"
    "- feedback: corrections and guidance that hold across work\n- project: decisions, constraints and facts of this"
    " project\n- reference: pointers to material kept elsewhere"
)


class SessionSnapshot(NamedTuple):
    """The memory that a session sees from its beginning to its end; programs get the fields by their names."""

    id: str
    session_id: str
    text: str
    hash: str
    generation: int
    captured_at: str
    controller_mode: str
    inherited_from: str | None
    blocks: int


def capture(
    curated: Curated,
    session: str,
    *,
    now: datetime,
    agent: str | None = None,
    parent: str | None = None,
    query: str | None = None,
) -> SessionSnapshot:
    """Return the snapshot of a session: the first one captured, until `reload` makes it outdated.

    A session with a `parent` gets the parent's, read-only; MemdeckError `memory.snapshot.no_parent` where the parent
    has none.
    """
    curated.refuse_disabled()
    records = curated.home.records
    generation = records.generation()
    known = records.snapshot(session)
    if known is not None and known[0] == generation:
        return SessionSnapshot(**known[1])
    if parent is not None:
        theirs = records.snapshot(parent)
        if theirs is None:
            raise MemdeckError("memory.snapshot.no_parent", f"the session {parent[:80]!r} has no snapshot", "begin it")
        before = SessionSnapshot(**theirs[1])
        made = _made(session, before.text, before.hash, before.generation, before.blocks, now, parent)
    else:
        session_began(curated, session, query, now)
        text, digest, blocks = _text(curated, curated.visible(agent), now, query, agent)
        made = _made(session, text, digest, generation, blocks, now, None)
    records.put_snapshot(session, generation, made._asdict(), now)
    return made


def _made(
    session: str, text: str, digest: str, generation: int, blocks: int, now: datetime, parent: str | None
) -> SessionSnapshot:
    parts = "|".join((session, digest, str(generation), parent or ""))
    name = "snapshot-" + sha256(parts.encode()).hexdigest()[:16]
    mode = "writable" if parent is None else "read_only"
    return SessionSnapshot(name, session, text, digest, generation, format_utc(now), mode, parent, blocks)


def _text(
    curated: Curated, roots: Sequence[Root], now: datetime, query: str | None, agent: str | None
) -> tuple[str, str, int]:
    """Return the text of a snapshot, its hash, and the number of its indexes; all empty for an empty memory."""
    settings = curated.settings
    after = settings["recall.freshness.banner_after_days"]
    parts: list[str] = []
    hashes: list[str] = []
    for root in curated.existing(roots):
        memories = curated.memories((root,))
        whole, stale = _index(curated, root, memories)
        index, left = capped(whole, settings["file.max_lines"], settings["file.max_bytes"])
        if not memories or not index.strip():
            continue
        block = [f"## {_HEADINGS[(root.scope, root.tier)]}"]
        block += [note for note, holds in ((_STALE, stale), (_CUT, left)) if holds]
        days = days_since(max(one.changed for one in memories), now)
        if days > after:
            block.append(f"*The newest of these memories is {days} days old; verify before relying on them.*")
        block.append(index)
        parts.append("\n\n".join(block))
        hashes.append(f"{root.scope}|{root.tier or ''}|{sha256(index.encode('utf-8', 'replace')).hexdigest()}")
    provided = prompt_block(curated, agent, now)
    if provided:
        parts.append(provided)
        hashes.append(f"provider||{sha256(provided.encode('utf-8', 'replace')).hexdigest()}")
    if not parts:
        return "", "", 0
    digest = sha256("\n".join(hashes).encode()).hexdigest()
    recalled = ""
    if query:
        recalled = turn_block(recall(curated, query, roots, RecallOptions(), now=now))
    policy = f"## Staleness Policy\n\nVerify a memory that is older than {after} day{'' if after == 1 else 's'}."
    head = f"AGH memory snapshot v1 blocks={len(parts)} hash={digest}"
    more = [f"## Recalled\n\n{recalled}"] if recalled else []
    text = harmless("\n\n".join([_INTRO, head, *parts, *more, _TAXONOMY, policy]))
    if len(text) > LARGEST:
        text = text[: LARGEST - len(_CUT) - 2].rpartition("\n")[0] + f"\n\n{_CUT}"
    return text, digest, len(parts)


def _index(curated: Curated, root: Root, memories: Sequence[Memory]) -> tuple[str, bool]:
    """Return the index of a folder, without what looks suspicious and was not approved by a person.

    The second value is true where a file of the index exists and lacks a line of a memory.
    """
    lines = index_lines(memories)
    own = {lines[one.filename]: one for one in memories}
    data = curated.side_of(root).store.read(f"{root.folder}/{INDEX}").data
    stale = bool(data) and not set(own) <= set(data.decode("utf-8", "replace").splitlines())
    text = rendered(data, lines).decode("utf-8", "replace")
    if not why_not(INDEX_KIND, INDEX, text):
        return text, stale
    parts = [part for _, part in suspicious_passages(text, own) if not curated.gate.passes(INDEX_KIND, INDEX, part)]
    bad = {line for part in parts for line in part.splitlines()}
    bad.update(line for line, one in own.items() if why_not(INDEX_KIND, line) and not curated.tells(one))
    return "\n".join(line for line in text.splitlines() if line not in bad), stale
