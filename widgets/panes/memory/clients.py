"""The tab of clients: the memories that Claude Code, Codex, Gemini CLI and VS Code keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from memory.clients.system import ClientsLook
from memory.files.snapshot import Snapshot
from widgets.detail import Prose
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan
from widgets.pane.offers import Call
from widgets.pane.operation_form import fields_of, form_of, operation_of
from widgets.pane.records import Record, RecordPane

if TYPE_CHECKING:
    from memory.clients.folders import ClientFolder, Lost
    from memory.clients.memories import ClientMemory
    from memory.clients.sources import Source


class ClientDeletion(NamedTuple):
    """The memories that a client deleted from one folder and that are still missing, newest first."""

    lost: tuple[Lost, ...]

    @property
    def source(self) -> Source:
        """The client and the folder."""
        return self.lost[0].store.source


class ClientsPane(RecordPane):
    """The memories of each client by folder; a folder is read only until the user allowed changes."""

    pane_id: ClassVar[str] = "clients"
    title: ClassVar[str] = "Clients"
    purpose: ClassVar[str] = "The clients' own memories; found by search."
    empty: ClassVar[str] = "No client keeps memories about this workspace."
    filter_fields: ClassVar[tuple[str, ...]] = ("client", "scope", "type", "agent")
    item_name: ClassVar[str] = "memory"
    removes: ClassVar[str] = "clients remove"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield the memories folder by folder, each with how full its index is."""
        look = _look(snapshot)
        for folder in () if look is None else look.folders:
            if folder.memories or folder.indexes:
                yield Heading(folder.source.title.upper(), _standing(folder))
                yield from map(_record, folder.memories)

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """Return how many memories there are; deleted ones and an index that overflows need attention."""
        look = _look(snapshot)
        if look is None:
            return Badge()
        over = any(gauge.state == "over" for folder in look.folders for gauge in folder.gauges.values())
        return Badge(sum(len(folder.memories) for folder in look.folders) or None, over or bool(look.lost(now)))

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return a memory with its fields, its text, and what of the index beside it is loaded."""
        memory: ClientMemory = item.thing
        return {
            " ": memory.description and Prose(memory.description, tone="muted"),
            "": memory.body.strip(),
            "type": memory.type,
            "client": memory.source.title,
            "agent": memory.agent,
            "file": memory.file,
            "changed": memory.date,
            "links": [name for name, _ in memory.links],
        }

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new memory, in the folder of the cursor."""
        item = self.current()
        given = {} if item is None else {"client": item.values["folder"], "agent": item.values["agent"]}
        return form_of("clients add", "New memory", given, focus="title")

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a memory; what does not change stays byte for byte."""
        memory: ClientMemory = item.thing
        given = {"title": memory.title, "description": memory.description, "type": memory.type,
                 "text": memory.body.strip()}  # fmt: skip
        operation = operation_of("clients edit")

        def build(changed: dict[str, str], _values: dict[str, str], _now: datetime) -> Build:
            return Call("clients edit", (operation.read({"ref": item.ref, **changed}),))

        fields = fields_of(operation, given, tuple(given))
        return FormPlan(f"Edit {memory.title}", fields, build, "clients.edit", focus="text")


def deletions(snapshot: Snapshot, now: datetime) -> list[ClientDeletion]:
    """Return what clients deleted in the last week and is still missing, folder by folder."""
    look = _look(snapshot)
    lost = () if look is None else look.lost(now)
    stores = dict.fromkeys(one.store for one in lost)
    return [ClientDeletion(tuple(one for one in lost if one.store is store)) for store in stores]


def restoring(lost: Iterable[Lost], *, keep: bool = False) -> Call:
    """Return the call that brings back what clients deleted, or with `keep` leaves it deleted."""
    given = {"files": [one.shown for one in lost], "keep": keep}
    return Call("clients restore", (operation_of("clients restore").read(given),))


def _standing(folder: ClientFolder) -> str:
    words = [f"{len(folder.memories):,}", "" if folder.store.allowed else "asks before a change"]
    words += [f"index {gauge.words()}" for gauge in folder.gauges.values() if gauge.state != "ok"]
    return ", ".join(filter(None, words))


def _record(memory: ClientMemory) -> Record:
    source = memory.source
    values = {
        "client": source.client, "scope": source.scope, "type": memory.type, "agent": memory.agent,
        "place": memory.file, "folder": source.name, "ref": memory.ref,
    }  # fmt: skip
    return Record(
        memory.ref, memory.title, about=f"{memory.agent or memory.type}  {memory.description}", when=memory.changed,
        values=values, words=memory.text, mark=memory.stored.data, thing=memory,
    )  # fmt: skip


def _look(snapshot: Snapshot) -> ClientsLook | None:
    return snapshot.of("clients", ClientsLook)
