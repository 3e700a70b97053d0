"""Facts as entries: they are added and removed, never edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory.errors import NotFoundError, RefusedError, UsageError
from memory.facts import Fact, FactStore
from memory.facts.model import SHOWN, ref_of
from memory.facts.system import Facts
from memory.search.records import Record
from memory.systems import system_of
from memory.systems.entry_kinds import (
    Changes,
    Check,
    EntryCall,
    EntryKind,
    Made,
    item_of,
    list_of,
    passes,
    refuse_unknown,
    text_of,
)


class FactEntries:
    """The facts of a workspace, the newest first."""

    compact = True
    filters = ()

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of the fact with this id."""
        for fact in _store(call).read().newest:
            if fact.ref == ref:
                return _record(fact)
        raise NotFoundError("facts.not_found", f"no fact has the ref {ref[:60]!r}", "search or list them")

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the facts that pass the filter, the newest first."""
        return (record for record in map(_record, _store(call).read().newest) if passes(record, filter))

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Store a fact; a text that looks like a secret is refused."""
        refuse_unknown(fields, ("tags", "scope"), "a fact")
        said = f"{title}\n{text}" if text and text.strip() and text.strip() != title.strip() else title
        scope = text_of("scope", fields.get("scope") or "workspace")
        store = _store(call)
        kept = store.store(
            said, tags=list_of("tags", fields.get("tags") or []), scope=scope, actor=call.actor, now=call.now
        )
        if kept.change is None:
            raise UsageError("facts.refused", kept.error, "nothing was stored")
        return Made(item_of(self.find(call, ref_of(kept.ids[0]))), kept.change.id, kept.change.summary)

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Refuse: facts cannot be edited."""
        check(item_of(self.find(call, ref)))
        raise RefusedError("facts.fixed", "facts cannot be edited", "add the new one, then remove this one")

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Delete a fact; it stays in the change log."""
        fact: Fact = self.find(call, ref).item

        def passed(gone: Sequence[Fact]) -> None:
            check(item_of(_record(gone[0])))
            if len(gone) > 1:
                raise RefusedError(
                    "facts.twins", f"several facts have the id {fact.id}", "a person has to look at them"
                )

        done = _store(call).delete([fact.id], actor=call.actor, now=call.now, check=passed, why=call.because(""))
        if (change := done.change) is None:
            raise NotFoundError("facts.not_found", f"no fact has the ref {ref[:60]!r}", "it was already removed")
        return Made(None, change.id, change.summary)


def _store(call: EntryCall) -> FactStore:
    return system_of(call.workspace, "facts", Facts).store


def _record(fact: Fact) -> Record:
    return Record("facts", SHOWN, fact.title, fact.text, fact, fact.ts[:10], tuple(fact.tags))


KINDS: dict[str, EntryKind] = {"facts": FactEntries()}
"""The kinds of entries of facts."""
