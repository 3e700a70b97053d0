"""The tab of curated memory: memories by scope, those they override, and what the controller decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.base.clock import format_utc
from memory.curated.system import CuratedLook
from memory.files.snapshot import Snapshot
from memory.systems.acts import act
from memory.workspace import Outcome
from widgets.detail import Link, Prose
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.pane.offers import question
from widgets.pane.operation_form import fields_of, form_of, operation_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Piece

if TYPE_CHECKING:
    from memory.curated.model import Invalid, Memory, Root
    from memory.curated.operations.records import CuratedOverview
    from memory.curated.system import CuratedMemory

Json = Mapping[str, Any]
OPS = {"add": "added", "update": "updated", "delete": "removed", "noop": "no change", "reject": "rejected"}
"""The decisions on writes, in words."""
READERS = {"global": "all workspaces", "workspace": "all agents here", "agent": "only this agent"}
"""Which agents find the memories of a scope."""
WRITTEN = ("name", "type", "content", "description", "scope", "agent_name", "agent_tier")
CHANGED = ("name", "type", "content", "description", "superseded_by")
"""The parameters that the forms of a new and of an existing memory ask for."""


class CuratedPane(RecordPane):
    """Every change goes through the controller, which records its rule."""

    DEFAULT_CLASSES: ClassVar[str] = "-even"
    pane_id: ClassVar[str] = "curated"
    title: ClassVar[str] = "Curated"
    files: ClassVar[tuple[str, ...]] = (".agh/workspace.toml",)
    purpose: ClassVar[str] = "Agents search these; every write is checked."
    empty: ClassVar[str] = (
        "What agents learned, one file for each memory: for all workspaces, for this one, or for one agent. Agents "
        "find them by search. Rules check each write for copies and harmful text, and it can be taken back.\n\n"
        "Press {entry.add|a} to write the first one. An agent writes one with `memdeck curated write`."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "type", "scope", "agent", "op")
    item_name: ClassVar[str] = "memory"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield memories, unreadable files and decisions; nothing where there is no memory."""
        look = _look(snapshot)
        found = None if look is None else look.overview(now)
        if found is None or (found.error is None and not (found.memories or found.invalid or found.decisions)):
            return
        problems = [str(found.error.message)] if found.error else [str(one) for one in found.health.get("problems", ())]
        if problems:
            yield _other("health", "health", problems[0], found.health, tone="alert", sign="alert")
        yield from _memories(found)
        for title, rows in (
            ("NOT READ  not memories", [_invalid(one) for one in found.invalid]),
            ("WRITES  and what became of them", [_decision(one) for one in found.decisions]),
        ):  # fmt: skip
            if rows:
                name, _, note = title.partition("  ")
                yield Heading(name, f"{len(rows):,}  {note}")
                yield from rows

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many files of the workspace are not memories."""
        look = _look(snapshot)
        return f"{len(look.invalid):,} not read" if look is not None and look.invalid else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many memories there are; files that are not memories, or an error, need attention."""
        look = _look(snapshot)
        return (
            Badge() if look is None else Badge(len(look.memories) or None, bool(look.invalid) or look.error is not None)
        )

    def counts(self, item: Record) -> bool:
        """Count memories that nothing overrides."""
        return item.values.get("part") == "memories" and not item.depth

    def place(self, item: Record) -> str:
        """Return the file of a memory, the id of a decision."""
        return item.values.get("filename") or item.values.get("id", "")

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return a memory in full with its decisions, a write with what was decided, or what is wrong."""
        part, thing = item.values["part"], item.thing
        if part == "decisions":
            rule = thing["rule_trace"][-1]["name"] if thing["rule_trace"] else ""
            return {
                "result": OPS.get(thing["op"], thing["op"]), "why": thing["reason"], "rule": rule,
                "from": thing["origin"], "scope": thing["agent_name"] or thing["scope"], "at": thing["decided_at"],
                "file": thing["target_filename"], "takes back": thing["reverts"],
            }  # fmt: skip
        if part == "health":
            return {"": "\n".join(map(str, thing.get("problems", ()))) or item.title}
        if part != "memories":
            return dict(thing)
        memory, recalls, winner = thing
        header, source, root = memory.header, memory.header.provenance, memory.root
        rows = () if self.contents is None else self.contents.rows.values
        decisions = [row.thing for row in rows if row.values.get("part") == "decisions"]
        mine = [
            {"op": OPS.get(one["op"], one["op"]), "when": one["decided_at"][:10], "why": one["reason"]}
            for one in decisions
            if memory.filename in (one["target_filename"], *one["targets"])
        ]
        return {
            " ": header.description and Prose(header.description, tone="muted"),
            "": memory.body,
            "type": header.type,
            "found by": f"agent {root.agent}" if root.agent else READERS[root.scope],
            "file": memory.filename,
            "overridden by": winner
            and Piece(f"{winner.root.agent or winner.root.scope}, {winner.header.name}", "warn"),
            "changed": recalls.get("mod_time"),
            "recalled": recalls.get("recall_count") and f"{recalls['recall_count']:,}×",
            "from": source.source_actor,
            "confidence": source.confidence,
            "replaced by": source.superseded_by and Piece(source.superseded_by, "warn"),
            "writes": mine[:8],
        }

    def links(self, item: Record) -> Sequence[Link]:
        """Link a memory to the one that overrides it, a decision to its memory."""
        name = item.values.get("target", "")
        rows = () if self.contents is None or not name else self.contents.rows.values
        found = (
            row for row in rows if isinstance(row, Record) and row.values.get("filename") == name and not row.depth
        )
        return [Link("memory", row.title, (self.files[0], row.ref)) for row in found][:1]

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new memory; the controller may find that it is known already, or reject it."""
        plan = form_of("curated write", "New memory", focus="name", names=WRITTEN)
        return plan._replace(build=lambda _changed, values, _now: _proposal("write", values))

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a memory; changing its type moves its file."""
        if item.values["part"] != "memories":
            return None
        memory: Memory = item.thing[0]
        header = memory.header
        given = {
            "name": header.name, "type": header.type, "content": memory.body, "description": header.description,
            "superseded_by": header.provenance.superseded_by or "",
        }  # fmt: skip
        fields = [one for one in fields_of(operation_of("curated edit"), given) if one.name in CHANGED]
        return FormPlan(
            f"Edit {header.name}",
            fields,
            lambda changed, _values, _now: _proposal("edit", {**_selector(memory), **changed}, memory.hash, keep=True),
            "curated.edit",
            focus="content",
        )

    def removing(self, items: Sequence[Record]) -> Removal | None:
        """Forget memories, with one decision each."""
        memories = [item.thing[0] for item in items if item.values["part"] == "memories"]

        def do(system: CuratedMemory, actor: str, now: datetime) -> Outcome:
            done = [system.propose("delete", _selector(one), one.hash, actor=actor, now=now) for one in memories]
            return done[-1]

        titles = [f"{one.header.name} ({one.root.label})" for one in memories]
        return Removal(*question("memory", titles), lambda _now: _act(do), "curated.delete") if memories else None


def _proposal(verb: str, values: Mapping[str, str], seen: str | None = None, *, keep: bool = False) -> Build:
    """Return the proposal to the controller; `seen` is the hash of the file that the form began with."""
    given = {key: text.strip() for key, text in values.items() if keep or text.strip()}
    return _act(lambda system, actor, now: system.propose(verb, given, seen, actor=actor, now=now))


def _act(do: Any) -> Build:
    from memory.curated.system import CuratedMemory

    return act("curated", CuratedMemory, do)


def _selector(memory: Memory) -> dict[str, str]:
    root = memory.root
    given = {"filename": memory.filename, "scope": root.scope, "agent_name": root.agent, "agent_tier": root.tier}
    return {key: value for key, value in given.items() if value}


def _memories(found: CuratedOverview) -> Iterator[Any]:
    everywhere = {one.memory.key for one in found.shadows if one.reader is None}
    scopes: dict[tuple[int, str], list[Memory]] = {}
    for memory in found.memories:
        if memory.key not in everywhere:
            scopes.setdefault((-memory.root.depth, memory.root.key), []).append(memory)
    for _, some in sorted(scopes.items()):
        root: Root = some[0].root
        name = f"AGENT {root.agent}" if root.agent else root.scope.upper()
        yield Heading(name, f"{len(some):,}  {READERS[root.scope]}")
        for memory in sorted(some, key=lambda one: (one.header.type, -one.changed, one.filename)):
            below = [one for one in found.shadows if one.winner.key == memory.key]
            over = f", overrides {below[0].memory.root.scope}" if below else ""
            yield _memory(f"curated#{memory.key}", memory, found.recalls.get(memory.key, {}), over)
            for one in below:
                yield _memory(f"curated#{memory.key}>{one.memory.key}", one.memory, {}, winner=memory)


def _memory(ref: str, memory: Memory, recalls: Json, over: str = "", winner: Memory | None = None) -> Record:
    header, root = memory.header, memory.root
    count = recalls.get("recall_count") or 0
    about = f"{root.scope}, overridden" if winner else header.type + over + (f"  recalled {count:,}×" if count else "")
    values = {"part": "memories", "type": header.type, **_selector(memory), "agent": root.agent or ""}
    return Record(
        ref, header.name, about, format_utc(datetime.fromtimestamp(memory.changed, UTC)),
        tone="muted" if winner else "plain", depth=int(winner is not None), folds=bool(over),
        values=values | ({"target": winner.filename} if winner else {}), words=memory.body, mark=memory.hash,
        source=f"{root.folder}/{memory.filename}", thing=(memory, recalls, winner),
    )  # fmt: skip


def _other(ref: str, part: str, title: str, record: Json, when: str = "", about: str = "", **more: Any) -> Record:
    values = {"part": part, "id": str(record.get("id") or ""), "target": str(record.get("target_filename") or "")}
    return Record(f"curated#{ref}", title, about, when, values=values, mark=title, thing=record, **more)


def _invalid(bad: Invalid) -> Record:
    record = {"reason": bad.reason, "line": bad.line, "code": bad.code, "folder": bad.root.folder}
    title = f"{bad.filename}:{bad.line}  {bad.reason}"
    return _other(f"invalid:{bad.root.key}/{bad.filename}", "invalid", title, record, tone="alert", sign="alert")


def _decision(one: Json) -> Record:
    # A new memory is the rule; only the others need their reason.
    op = str(one["op"])
    about = OPS.get(op, op) + ("" if op == "add" else f": {one['reason']}")
    made = _other(one["id"], "decisions", one["title"] or "A write", one, one["decided_at"], about,
                  tone="alert" if op == "reject" else "plain")  # fmt: skip
    values = {"scope": one["scope"], "agent": one["agent_name"] or "", "op": one["op"], "decision_id": one["id"]}
    return replace(made, values={**made.values, **values})


def _look(snapshot: Snapshot) -> CuratedLook | None:
    return snapshot.of("curated", CuratedLook)
