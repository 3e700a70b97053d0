"""What the curated pane edits: adding, changing and forgetting memories. The controller decides on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.systems.acts import act
from memory.workspace import Outcome
from widgets.input.fields import FieldSpec
from widgets.pane.offers import Build, FormPlan, Removal
from widgets.panes.edit_chain import question

from .rows import MemoryRow

if TYPE_CHECKING:
    from memory.curated.model import Root
    from memory.curated.system import CuratedMemory

BY_TYPE = "by its type"
"""The scope that follows from the type."""


def new_memory(agents: Sequence[str]) -> FormPlan:
    """The form of a new memory; the controller may find that it is known already, or reject it."""
    from memory.curated.model import SCOPES, TIERS, TYPES

    def of_agent(scope: str) -> bool:
        return scope == "agent"

    fields = [
        FieldSpec("name", "name", required=True, about="The title, which also names the file."),
        FieldSpec("type", "type", "choice", TYPES[2], options=TYPES),
        FieldSpec("content", "text", "multiline", required=True),
        FieldSpec("description", "about", about="One sentence by which it is found; the first line of the text else."),
        FieldSpec("scope", "scope", "choice", BY_TYPE, options=(BY_TYPE, *SCOPES)),
        FieldSpec("agent_name", "agent", suggestions=tuple(agents), follows="scope", shown=of_agent),
        FieldSpec("agent_tier", "tier", "choice", TIERS[0], options=TIERS, follows="scope", shown=of_agent),
    ]

    def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
        given = {key: text.strip() for key, text in values.items() if text.strip()}
        if given.get("scope") == BY_TYPE:
            del given["scope"]
        if given.get("scope") != "agent":
            given.pop("agent_name", None)
            given.pop("agent_tier", None)
        return proposal("write", given)

    return FormPlan("New memory", fields, build, "curated.write", focus="name")


def edit_memory(item: MemoryRow) -> FormPlan:
    """The form of a memory; changing its type moves its file."""
    from memory.curated.model import TYPES

    memory, header = item.memory, item.memory.header
    fields = [
        FieldSpec("name", "name", value=header.name, required=True),
        FieldSpec("type", "type", "choice", header.type, options=TYPES),
        FieldSpec("content", "text", "multiline", memory.body, required=True),
        FieldSpec("description", "about", value=header.description, required=True),
        FieldSpec("superseded_by", "replaced by", value=header.provenance.superseded_by or ""),
    ]

    def build(changed: dict[str, str], _values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
        return proposal("edit", {"filename": memory.filename, **_selector(memory.root), **changed}, memory.hash)

    return FormPlan(f"Edit {header.name}", fields, build, "curated.edit", focus="content")


def removal(rows: Sequence[MemoryRow]) -> Removal | None:
    """Forget memories, with one decision each; each decision can be reverted."""
    if not rows:
        return None

    def build(_now: datetime) -> Build:
        def do(system: CuratedMemory, actor: str, now: datetime) -> Outcome:
            done = [
                system.propose(
                    "delete", {"filename": row.memory.filename, **_selector(row.memory.root)}, row.memory.hash,
                    actor=actor, now=now,
                )
                for row in rows
            ]  # fmt: skip
            return done[-1]

        return _act(do)

    titles = [f"{row.title} ({row.memory.root.label})" for row in rows]
    return Removal(*question("memory", titles), build, "curated.delete")


def proposal(verb: str, values: dict[str, Any], seen: str | None = None) -> Build:
    """Return the proposal to the controller; `seen` is the hash of the file that the form began with."""
    return _act(lambda system, actor, now: system.propose(verb, values, seen, actor=actor, now=now))


def _act(do: Callable[[CuratedMemory, str, datetime], Outcome]) -> Build:
    from memory.curated.system import CuratedMemory

    return act("curated", CuratedMemory, do)


def _selector(root: Root) -> dict[str, str]:
    given = {"scope": root.scope, "agent_name": root.agent, "agent_tier": root.tier}
    return {key: value for key, value in given.items() if value}
