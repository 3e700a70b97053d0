"""Memories as entries for programs, and as items of other memories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.base.items import Committed, Item, Loss, Skipped, Taken, comma_losses
from memory.curated.control.decision import LONGEST, Candidate, first_line
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.files import LONGEST as LONGEST_SLUG
from memory.curated.files import filename, slug
from memory.curated.model import SCOPES, TYPES, Header, Invalid, Json, Memory, OperationCall, Root
from memory.curated.system import CuratedItem, CuratedMemory, record_of
from memory.document.item_block import body_of, item_of_block
from memory.errors import MemdeckError, NotFoundError, RefusedError, UsageError
from memory.search.entries import (
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
from memory.search.records import Record, derived_ref
from memory.storage import Change
from memory.systems import system_of

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


_TYPES = {"contact": "user", "task": "project", "next-step": "project", "decision": "project"}
_HEADER = ("description", "type", "scope", "agent", "tier")
"""The fields of a memory's header."""


def items_of(memories: Sequence[Memory], invalid: Sequence[Invalid], folder: str) -> Iterator[Item | Skipped]:
    """Yield memories as items; files that are not memories are yielded as skipped with their reason."""
    for one in memories:
        header = one.header
        where = f"{folder}/{one.root.folder}/{one.filename}"
        found = item_of_block("memory", header.name, one.body, where)
        said = {"description": header.description, "type": header.type, "scope": one.root.scope}
        if one.root.agent:
            said |= {"agent": one.root.agent, "tier": one.root.tier or ""}
        if found.kind == "memory":
            created = found.created or header.provenance.created_at or ""
            yield Item("memory", header.name, one.body.strip("\n"), where, created, (), said)
        else:
            text = "" if found.text == found.title else found.text
            yield Item(found.kind, found.title, text, where, found.created, found.tags, found.fields)
    for bad in invalid:
        yield Skipped(f"{folder}/{bad.root.folder}/{bad.filename}:{bad.line}", bad.reason)


def take(curated: Curated, items: Sequence[Item], place: str, call: OperationCall) -> Taken:
    """Convert items to memories of a scope (default: the workspace), each decided by the controller.

    What the controller rejects or knows already is skipped with its reason. No existing memory is changed: where
    another memory has the name of an item, a number is appended to the item's name.
    """
    scope = place or "workspace"
    if scope not in SCOPES or scope == "agent":
        raise UsageError("convert.scope", f"{scope[:40]!r} is not a scope for it", "use workspace or global")
    root = curated.root(scope)
    planned: list[tuple[Item, Candidate]] = []
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    files: set[str] = set()
    for item in items:
        try:
            candidate = _candidate(root, item)
        except MemdeckError as error:
            skipped.append(Skipped(item.what, error.message))
            continue
        name, candidate = _named(curated, candidate, files)
        why, _ = _outcome(curated, candidate, call, dry_run=True)
        if why:
            skipped.append(Skipped(item.what, why))
            continue
        files.add(name)
        planned.append((item, candidate))
        losses += comma_losses(item)
        if candidate.header is not None and candidate.header.name != item.title:
            words = f"another memory has that name: this one is {candidate.header.name!r}"
            losses.append(Loss(item.what, "title", words))

    def commit() -> Committed:
        changes: list[str] = []
        refused: list[tuple[Item, str]] = []
        for item, candidate in planned:
            why, change = _outcome(curated, candidate, call)
            if why:
                refused.append((item, why))
            elif change is not None:
                changes.append(change.id)
        return Committed(changes, refused)

    return Taken([item for item, _ in planned], skipped, losses, commit)


def _named(curated: Curated, candidate: Candidate, files: Collection[str]) -> tuple[str, Candidate]:
    """Return the file name of a candidate, and the candidate with a number behind its name where that file is taken.

    `files` are the file names of the other items of the same conversion.
    """
    assert candidate.header is not None
    header = candidate.header
    name = filename(header.type, header.name)
    taken = {*files, *(one.filename for one in curated.memories([candidate.root]))}
    if name not in taken:
        return name, candidate
    stem, number = slug(header.name), 2
    # The number must stay in the file name even where that holds only the beginning of the name.
    while (name := f"{header.type}_{stem[: LONGEST_SLUG - len(f'-{number}')]}-{number}.md") in taken:
        number += 1
    renamed = header._replace(name=f"{header.name} ({number})")
    return name, replace(candidate, header=renamed, metadata={"target_filename": name})


def _outcome(
    curated: Curated, candidate: Candidate, call: OperationCall, *, dry_run: bool = False
) -> tuple[str, Change | None]:
    """Return why a candidate is not taken, empty where it is, and the change that it made."""
    try:
        made = propose(curated, candidate, call, dry_run=dry_run)
    except MemdeckError as error:
        return error.message, None
    return ("" if made.decision.changes else made.decision.reason), made.change


def _candidate(root: Root, item: Item) -> Candidate:
    kind = item.fields.get("type", "")
    kind = kind if kind in TYPES else _TYPES.get(item.kind, "reference")
    rest = {key: value for key, value in item.fields.items() if key not in _HEADER or item.kind != "memory"}
    plain = item.kind in ("memory", "note", "fact") and not rest and not item.tags
    # A memory needs a body: two with the same body are one to the controller, even under two names.
    text = item.text or item.title
    kept = Item(item.kind, item.title, text, item.where, item.created, item.tags, rest)
    content = text if plain else body_of(kept)
    description = item.fields.get("description") or first_line(item.text) or item.title[:LONGEST]
    header = Header(item.title, description, kind, root.scope, root.agent, root.tier)
    return Candidate(root, "cli", header, content, only_new=True)
