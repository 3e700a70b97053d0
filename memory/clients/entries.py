"""The memories of clients as entries of the kind `memory`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.clients.folders import (
    ClientFolder,
    FolderWriter,
    folder_named,
    found_in,
    read_folder,
    record_of,
)
from memory.clients.memories import KEYS, TYPES, ClientMemory
from memory.clients.system import ClientMemories
from memory.errors import UsageError
from memory.search.records import Record
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
    unescaped,
)

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
