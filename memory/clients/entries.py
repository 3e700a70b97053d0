"""The memories of clients as entries of the kind `memory`, as items of a conversion, and as instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory.base.items import Committed, Item, Loss, Skipped, Taken, losses_of
from memory.base.safe_text import plural
from memory.base.values import alike
from memory.base.word_lists import sounds_like_rule
from memory.clients.folders import (
    ClientFolder,
    FolderWriter,
    folder_named,
    found_in,
    index_lines,
    read_folder,
    record_of,
    refuse_adding,
)
from memory.clients.memories import KEYS, TYPES, ClientMemory, file_name, files_of, new_memory, one_line, with_body
from memory.clients.system import ClientMemories
from memory.errors import UsageError
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
    unescaped,
)
from memory.search.records import Record
from memory.systems import system_of

_FIELDS = ("client", "agent", "type", "description")


class MemoryEntries:
    """The memories of all clients; an addition names the client in the field `client`."""

    compact = False
    filters = ("client", "scope", "agent")

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a memory."""
        return record_of(found_in(_folders(call), ref)[1])

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the memories that pass the filter, folder by folder."""
        return (one for folder in _folders(call) for one in map(record_of, folder.memories) if passes(one, filter))

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add a memory to a client's folder, with its line in the index."""
        refuse_unknown(fields, _FIELDS, "a memory of a client")
        if not fields.get("client"):
            raise UsageError("clients.folder", "a client memory needs a name", "set client, such as claude-code")
        values = {key: text_of(key, fields.get(key) or "") for key in _FIELDS}
        folder = folder_named(_folders(call), values["client"])
        writer = FolderWriter(folder.store, call.actor, call.now)
        path, change = writer.add(
            title, text or title, values["type"] or TYPES[2], values["description"], values["agent"]
        )
        return _made(folder, path, change.id, change.summary)

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Set `title`, `description` and `type`, or replace the whole text, front matter included."""
        folder, memory = found_in(_folders(call), ref)
        values = {
            "name" if key == "title" else key: text_of(key, value) if value is not None else ""
            for key, value in changes.values.items()
        }
        refuse_unknown(values, KEYS, "a memory of a client")
        text = changes.text
        if changes.append is not None:
            text = f"{memory.text.rstrip()}\n\n{changes.append}\n"
        if text is not None:
            text = unescaped(text.rstrip("\n"), memory.text) + memory.text[len(memory.text.rstrip("\r\n")) :]
        change = FolderWriter(folder.store, call.actor, call.now).edit(
            memory.path, values, None, lambda one: check(item_of(record_of(one))), text, call.because("")
        )
        return _made(folder, memory.path, change.id if change.files else None, change.summary)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove a memory and its line in the index; the bytes stay in the change log."""
        folder, memory = found_in(_folders(call), ref)
        change = FolderWriter(folder.store, call.actor, call.now).remove(
            memory.path, lambda one: check(item_of(record_of(one))), call.because("")
        )
        return Made(None, change.id, change.summary)


def _folders(call: EntryCall) -> tuple[ClientFolder, ...]:
    return system_of(call.workspace, "clients", ClientMemories).look().folders


def _made(folder: ClientFolder, path: str, change: str | None, summary: str) -> Made:
    found: ClientMemory | None = read_folder(folder.store).files.get(path)
    return Made(None if found is None else item_of(record_of(found)), change, summary)


KINDS: dict[str, EntryKind] = {"memory": MemoryEntries()}
"""The kinds of entries of clients' memories."""


_KNOWN = ("type", "description", "section", "reason", "created", "scope", "kind")
LEFT_OUT = frozenset({"task", "journal", "contact", "plan", "monitor", "setting"})
"""The kinds of items that are no memories of how to work."""


def take(folder: ClientFolder, items: Sequence[Item], *, actor: str, now: datetime) -> Taken:
    """Convert items to memories of a folder, each with its line in the index; in one change.

    An item with the title of an existing memory replaces its text, so that converting again changes what changed.
    """
    known = {alike(one.title): one for one in folder.memories}
    new: dict[str, tuple[Item, ClientMemory | None]] = {}
    skipped: list[Skipped] = []
    losses: list[Loss] = []
    for item in items:
        title = alike(item.title)
        there = known.get(title)
        if item.kind in LEFT_OUT:
            skipped.append(Skipped(item.what, f"a {item.kind} is not a client memory"))
        elif title in new:
            skipped.append(Skipped(item.what, "it was already converted"))
        elif there is not None and alike(there.body) == alike(_body(item)):
            skipped.append(Skipped(item.what, "it already exists"))
        else:
            new[title] = (item, there)
            losses += losses_of(item, _KNOWN)

    def commit() -> Committed:
        if not new:
            return Committed(())
        top, files = folder.source.top(), dict[str, tuple[bytes | None, bytes]]()
        taken = {path.removeprefix(top) for path in files_of(folder.source)}
        for item, there in new.values():
            if there is not None:
                files[there.path] = (there.stored.data, with_body(there.stored.data, _body(item)))
                continue
            refuse_adding(folder.source)
            title, kind = one_line(item.title)[:200], _type(item)
            name = file_name(title, kind, taken)
            taken.add(name)
            files[top + name] = (None, new_memory(title, _body(item), kind, item.fields.get("description", ""), now))
        files.update(dict(index_lines(folder.store, files)))
        words = f"converted {plural(len(new), 'entry')} to the memory of {folder.source.title}"
        change = FolderWriter(folder.store, actor, now).write_all(files, "clients.convert", words)
        return Committed((change.id,) if change.files else ())

    return Taken([item for item, _ in new.values()], skipped, losses, commit)


def _body(item: Item) -> str:
    parts = (item.text.strip() or item.title, item.fields.get("reason") and f"**Why:** {item.fields['reason']}")
    return "\n\n".join(part for part in parts if part)


def _type(item: Item) -> str:
    """Return the type of a new memory: that of its source, else feedback for a rule."""
    said = item.fields.get("type", "")
    if said in TYPES:
        return said
    rule = (
        sounds_like_rule(item.title) or "preference" in " ".join((*item.tags, item.fields.get("section", ""))).lower()
    )
    return "feedback" if rule else "project"


def as_instructions(groups: Sequence[tuple[str, Sequence[Item]]]) -> Iterator[str]:
    """Yield the lines of an AGENTS.md: a heading for each group, a bullet for each item, its text below."""
    yield "# Memory"
    for title, items in groups:
        yield from ("", f"## {title}", "")
        for item in items:
            text = _body(item)
            same = alike(text) == alike(item.title)
            yield f"- {one_line(item.title)}" + ("" if same or "\n" in text else f": {one_line(text)}")
            if not same and "\n" in text:
                yield from (f"  {line}".rstrip() for line in text.splitlines())
