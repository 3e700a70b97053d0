"""Curated memories as entries for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.curated.model import Json, Memory
from memory.curated.system import CuratedItem, CuratedMemory, record_of
from memory.errors import NotFoundError, RefusedError
from memory.search.records import Record, derived_ref
from memory.systems import system_of
from memory.systems.entry_kinds import (
    Changes,
    Check,
    EntryCall,
    EntryKind,
    Made,
    item_of,
    passes,
    refuse_unknown,
    text_of,
    texts_of,
    unescaped,
)

_SET = ("title", "description", "type", "superseded_by")
_ADD = ("description", "reason", "type", "scope", "agent_name")


class CuratedEntries:
    """The memories of the workspace, its agents and the person; lines of an index that people wrote are only read."""

    compact = False
    filters = ("type", "scope", "agent_name")

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a memory, with its body alone as the text."""
        for record in self.list(call, {}):
            if derived_ref(record) == ref:
                return record
        raise NotFoundError("entry.not_found", f"no memory has the ref {ref[:60]!r}", "list them to see their refs")

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the memories that pass the filter, the deepest scope first, then the lines of indexes."""
        memories = map(_shown, _memories(call))
        lines = (one for one in _system(call).records() if not isinstance(one.item, CuratedItem))
        return (one for one in (*memories, *lines) if passes(one, filter))

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Propose a new memory; without a type it is a reference, without a scope that of its type.

        The reason of a decision is its description.
        """
        refuse_unknown(fields, _ADD, "a curated memory")
        values = {key: text_of(key, value) for key, value in fields.items() if value}
        values = {"description": values.pop("reason", ""), **values}
        return _decided(call, "write", {"type": "reference", **values, "name": title, "content": text or title})

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Propose other values of the header, another text, or more of it."""
        memory = self._memory(call, ref, check)
        refuse_unknown(changes.values, _SET, "a curated memory")
        values = {"name" if key == "title" else key: value for key, value in texts_of(changes.values).items()}
        text = changes.text if changes.append is None else f"{memory.body}\n\n{changes.append}"
        content = {} if text is None else {"content": unescaped(text, memory.body)}
        return _decided(call, "edit", {**_name(memory), **values, **content}, memory.hash)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Propose to forget a memory; its bytes stay in the decision and in the change log."""
        memory = self._memory(call, ref, check)
        return _decided(call, "delete", {**_name(memory), "reason": call.reason or None}, memory.hash)

    def _memory(self, call: EntryCall, ref: str, check: Check) -> Memory:
        record = self.find(call, ref)
        check(item_of(record))
        if not isinstance(record.item, CuratedItem) or record.item.memory is None:
            raise RefusedError("entry.read_only", "lines of an index are read-only here", "edit MEMORY.md itself")
        return record.item.memory


def _system(call: EntryCall) -> CuratedMemory:
    return system_of(call.workspace, "curated", CuratedMemory)


def _memories(call: EntryCall) -> list[Memory]:
    curated = _system(call).curated
    return curated.memories(curated.all_roots())


def _name(memory: Memory) -> Json:
    return {"filename": memory.filename, **memory.root.json()}


def _decided(call: EntryCall, verb: str, values: Json, seen: str | None = None) -> Made:
    outcome = _system(call).propose(verb, values, seen, actor=call.actor, now=call.now)
    found = next((one for one in _memories(call) if outcome.ref == f"curated#{one.key}"), None)
    return Made(None if found is None else item_of(_shown(found)), outcome.change.id or None, outcome.summary)


def _shown(memory: Memory) -> Record:
    return record_of(memory)._replace(text=memory.body)


KINDS: dict[str, EntryKind] = {"curated": CuratedEntries()}
"""The kinds of entries of curated memory."""
