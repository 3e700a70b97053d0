"""The operations on the entries of each kind; the one list to which a new kind is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memory.entries.model import Made
from memory.entries.placing import ALIASES, USES
from memory.errors import NotFoundError, RefusedError, UsageError
from memory.files.snapshot import kind_of
from memory.registry import kinds, registered
from memory.search.records import derived_ref
from memory.systems import records_of_all

from .kind import EntryCall, EntryKind
from .values import passes

if TYPE_CHECKING:
    from memory.search.records import Record
    from memory.workspace import Workspace


class PlainEntries:
    """The records of one kind, in any system."""

    compact = False
    filters: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        """`name` is the name of the kind."""
        self.name = name

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref."""
        for record in self.list(call, {}):
            if ref in (record.ref, derived_ref(record)):
                return record
        raise NotFoundError("entry.not_found", f"no entry has the ref {ref[:60]!r}", "list them to see their refs")

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the records that pass the filter, in the system's order."""
        for record in records_of_all(call.workspace, (self.name,)):
            if record.kind == self.name and passes(record, filter):
                yield record

    def add(self, *_: Any, **__: Any) -> Made:
        """Refuse: the records of such a kind are not changed here."""
        raise RefusedError("entry.read_only", f"{self.name} are only read here", "use the tool that they belong to")

    edit = remove = add


_PLACES = {
    "tasks": "in_files:Tasks",
    "journal": "in_files:JournalEntries",
    "knowledge": "in_files:KnowledgeItems",
    "contacts": "in_files:ContactEntries",
    "plans": "in_files:PlanEntries",
    "monitors": "in_files:MonitorEntries",
    "config": "in_files:ConfigEntries",
    "facts": "facts:FactEntries",
    "typed": "typed:TypedBlocks",
    "state": "state:StateParts",
}


def kind_named(name: str, workspace: Workspace) -> EntryKind:
    """Return the operations of a kind; UsageError `entry.kind`, NotFoundError `entry.no_system` if no system of the
    workspace has it.
    """
    name = ALIASES.get(name, name)
    owner = next((one.name for one in registered() if name in one.kinds), None)
    if owner is None:
        raise UsageError("entry.kind", f"there is no kind {name[:40]!r}", f"use one of {', '.join([*USES, *kinds()])}")
    if owner not in workspace.system_names():
        held = ", ".join(kind for one in registered() if one.name in workspace.system_names() for kind in one.kinds)
        raise NotFoundError("entry.no_system", f"this workspace holds no {name}", f"it holds {held}; add kind=memory")
    own: Mapping[str, EntryKind] = getattr(workspace.system(owner), "entry_kinds", {})
    if name in own:
        return own[name]
    if name not in _PLACES:
        return PlainEntries(name)
    module, _, made_by = _PLACES[name].partition(":")
    kind: EntryKind = getattr(import_module(f"memory.entries.kinds.{module}"), made_by)()
    return kind


def kind_of_ref(ref: str) -> str:
    """Return the kind of a ref; UsageError `entry.ref` for a text that is no ref."""
    scope, mark, rest = ref.strip().rpartition("#")
    if not (scope and mark and rest) or len(ref) > 300:
        raise UsageError(
            "entry.ref", f"{ref[:60]!r} is no ref", "take one from search or read, such as tasks#3fa94c1b2d"
        )
    if scope in _PLACES or scope in ALIASES or scope in kinds():
        return ALIASES.get(scope, scope)

    return kind_of(scope if scope.endswith(".md") else f"{scope}.md") or scope
