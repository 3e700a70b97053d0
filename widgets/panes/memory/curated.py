"""The tab of curated memory: what agents learned, one note each, what they learned lately, and what waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from memory.base.clock import format_utc
from memory.base.safe_text import plural
from memory.curated.system import CuratedLook
from memory.files.snapshot import Snapshot
from memory.systems.acts import act
from widgets.chrome.keys import with_keys
from widgets.detail import Link, Prose
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan
from widgets.pane.operation_form import TYPES, coded, fields_of, form_of, operation_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Piece

if TYPE_CHECKING:
    from memory.curated.model import Memory
    from memory.curated.operations.records import CuratedOverview

Json = Mapping[str, Any]
OPS = {"add": "new", "update": "changed", "delete": "forgotten", "noop": "known already", "reject": "refused"}
"""What became of a write, in words."""
READERS = {"workspace": "FOR ALL AGENTS HERE", "agent": "ONLY FOR {}", "global": "FOR ALL WORKSPACES"}
"""Who finds the memories of a scope."""
ORIGINS = {"cli": "the command line", "tool": "an agent", "extractor": "a session", "dreaming": "dreaming"}
"""Who wrote a memory, in words."""
WRITTEN = ("name", "type", "content", "description", "scope", "agent_name", "agent_tier")
"""The parameters that the form of a new memory asks for."""
LATELY, MOST = timedelta(days=14), 8
"""What is learned lately: for how long, and how many are listed first."""
ROW = Columns(
    Column("sign", 1, importance=9), Column("title", minimum=20), Column("kind", 13, importance=2),
    Column("when", 8, "right", importance=3),
)  # fmt: skip


class CuratedPane(RecordPane):
    """Every change goes through the controller, which records its rule."""

    pane_id: ClassVar[str] = "curated"
    title: ClassVar[str] = "Curated"
    files: ClassVar[tuple[str, ...]] = (".agh/workspace.toml",)
    purpose: ClassVar[str] = "What agents learned; a search finds it."
    empty: ClassVar[str] = (
        "What agents have learned, one note each: for all workspaces, for this one, or for one agent. Agents can "
        "search them. Each write is checked for copies and harmful text; you can undo it.\n\n"
        "Press {entry.add|a} to write the first one. An agent writes one with `memdeck curated write`."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "type", "scope", "agent", "op")
    item_name: ClassVar[str] = "memory"
    removes: ClassVar[str] = "curated delete"
    next_call: ClassVar[str] = "curated extractor drain"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield what waits, what was learned lately, and the memories by who finds them."""
        from memory.curated.extract.inbox import count

        look = snapshot.of("curated", CuratedLook)
        found = None if look is None else look.overview(now)
        if look is None or found is None:
            return
        # They name the files that are not memories, too.
        for words in [found.error.message] if found.error else map(str, found.health.get("problems", ())):
            yield Record(f"curated#health:{words}", words, sign="alert", tone="alert", values={"part": "health"})
        if look.curated is not None and (waits := count(look.curated)):
            yield Record("curated#waits", f"{plural(waits, 'suggestion')} from sessions to check", sign="right",
                         tone="accent", values={"part": "waits"},
                         words="Agents suggested this during a session; {memory.next|R} checks and adds it.",
                         mark=waits)  # fmt: skip
        since = format_utc(now - LATELY)
        lately = [one for one in found.decisions if one["decided_at"] >= since][:MOST]
        for title, rows in (
            ("LEARNED LATELY", [_decision(one) for one in lately]),
            *_memories(found),
        ):
            if rows:
                yield Heading(title, f"{sum(not row.depth for row in rows):,}")
                yield from rows

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many memories there are; files that are not memories, or an error, need attention."""
        look = snapshot.of("curated", CuratedLook) or CuratedLook((), ())
        return Badge(len(look.memories) or None, bool(look.invalid) or look.error is not None)

    def may_change(self, item: Record) -> bool:
        """Only memories can be changed."""
        return item.part == "memories"

    def counts(self, item: Record) -> bool:
        """Count memories that nothing overrides."""
        return item.part == "memories" and not item.depth

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return a memory in full, a write with what became of it, or what is wrong or waits."""
        thing = item.thing
        if item.part == "decisions":
            return {
                "result": OPS.get(thing["op"], thing["op"]), "why": thing["reason"],
                "from": ORIGINS.get(thing["origin"], thing["origin"]),
                "for": thing["agent_name"] or thing["scope"], "at": thing["decided_at"],
                "file": thing["target_filename"], "reverts": thing["reverts"],
            }  # fmt: skip
        if item.part != "memories":
            return {"": Prose(with_keys(item.words or item.title, self.app))}
        memory, recalls, winner = thing
        header, source = memory.header, memory.header.provenance
        return {
            " ": header.description and Prose(header.description, tone="muted"),
            "": memory.body,
            "about": TYPES.get(header.type, header.type),
            "overridden by": winner and Piece(f"the memory for {winner.root.agent or winner.root.scope}", "warn"),
            "changed": recalls.get("mod_time"),
            "recalled": f"{recalls['recall_count']:,}×" if recalls.get("recall_count") else "never",
            "learned from": ORIGINS.get(source.source_actor or "", source.source_actor),
            "certainty": source.confidence,
            "replaced by": source.superseded_by and Piece(source.superseded_by, "warn"),
        }

    def links(self, item: Record) -> Sequence[Link]:
        """Link a memory to the one that overrides it, a decision to its memory."""
        name = item.values.get("target", "")
        rows = () if self.contents is None or not name else self.contents.rows.values
        return [Link("memory", row.title, (self.files[0], row.ref)) for row in rows
                if row.values.get("filename") == name and not row.depth][:1]  # fmt: skip

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new memory; the controller may find that it is known already, or reject it."""
        plan = form_of("curated write", "New memory", focus="name", names=WRITTEN)
        fields = [
            replace(one, follows="scope", shown=lambda scope: scope == "agent") if one.name.startswith("agent") else one
            for one in plan.fields
        ]
        return plan._replace(fields=fields)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a memory; changing its type moves its file."""
        from memory.curated.system import CuratedMemory

        memory: Memory = item.thing[0]

        def build(changed: dict[str, str], _values: dict[str, str], _now: datetime) -> Build:
            given = {**_selector(memory), **{name: coded(name, text.strip()) for name, text in changed.items()}}
            # It is checked that the file is still the one that the form began with.
            return act("curated", CuratedMemory, lambda system, actor, now: system.propose(
                "edit", given, memory.hash, actor=actor, now=now))  # fmt: skip

        header = memory.header
        given = {"name": header.name, "type": header.type, "content": memory.body, "description": header.description,
                 "superseded_by": header.provenance.superseded_by or ""}  # fmt: skip
        fields = fields_of(operation_of("curated edit"), given, tuple(given))
        return FormPlan(f"Edit {header.name}", fields, build, "curated.edit", focus="content")

    def removed_by(self, item: Record) -> Mapping[str, str] | None:
        """Return where a memory is; forgetting it is one decision."""
        return _selector(item.thing[0]) if self.may_change(item) else None


def _selector(memory: Memory) -> dict[str, str]:
    root = memory.root
    given = {"filename": memory.filename, "scope": root.scope, "agent_name": root.agent, "agent_tier": root.tier}
    return {key: value for key, value in given.items() if value}


def _memories(found: CuratedOverview) -> Iterator[tuple[str, list[Record]]]:
    """Yield the memories of each scope, those of the workspace first, each with those that it overrides below it."""
    everywhere = {one.memory.key for one in found.shadows if one.reader is None}
    scopes: dict[tuple[int, str], list[Memory]] = {}
    for memory in found.memories:
        if memory.key not in everywhere:
            order = [*READERS].index(memory.root.scope)
            scopes.setdefault((order, memory.root.key), []).append(memory)
    for _, some in sorted(scopes.items()):
        rows = []
        for memory in sorted(some, key=lambda one: (one.header.type, -one.changed, one.filename)):
            below = [one.memory for one in found.shadows if one.winner.key == memory.key]
            rows.append(_memory(f"curated#{memory.key}", memory, found.recalls.get(memory.key, {}), folds=bool(below)))
            rows += [_memory(f"curated#{memory.key}>{one.key}", one, {}, winner=memory) for one in below]
        yield READERS[some[0].root.scope].format(some[0].root.agent), rows


def _memory(ref: str, memory: Memory, recalls: Json, *, folds: bool = False, winner: Memory | None = None) -> Record:
    header, root = memory.header, memory.root
    values = {
        "part": "memories",
        "place": memory.filename,
        "type": header.type,
        **_selector(memory),
        "agent": root.agent or "",
    }
    return Record(
        ref, header.name, "overridden" if winner else header.description or "",
        format_utc(datetime.fromtimestamp(memory.changed, UTC)), tone="muted" if winner else "plain",
        depth=int(winner is not None), folds=folds, words=memory.body, mark=memory.hash,
        values=values | ({"target": winner.filename} if winner else {}), source=f"{root.folder}/{memory.filename}",
        thing=(memory, recalls, winner), columns=ROW,
        cells={"kind": Piece(TYPES.get(header.type, header.type), "muted")},
    )  # fmt: skip


def _decision(one: Json) -> Record:
    op = str(one["op"])
    values = {
        "part": "decisions", "scope": one["scope"], "agent": one["agent_name"] or "", "op": op,
        "place": one["id"], "target": str(one["target_filename"] or ""),
    }  # fmt: skip
    # A new memory is the rule; only the others need their reason.
    return Record(f"curated#{one['id']}", one["title"] or "A write", "" if op == "add" else str(one["reason"]),
                  one["decided_at"], tone="alert" if op == "reject" else "plain", values=values, thing=one,
                  columns=ROW, cells={"kind": Piece(OPS.get(op, op), "muted")})  # fmt: skip
