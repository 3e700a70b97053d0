"""The entries of a kind by the operations of its system: what agents get of a system that declares nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory.errors import NotFoundError, RefusedError
from memory.operations import Caller, Operation, allow, load
from memory.operations.result import short
from memory.registry import registered
from memory.search.records import Record, derived_ref

from . import records_of_all
from .entry_kinds import Changes, Check, EntryCall, Made, item_of, passes

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.workspace import Outcome

Json = dict[str, Any]


class TableEntries:
    """The records of one kind, changed by the operations `add`, `edit` and `remove` of its system, if it has them.

    The first argument of an operation is the title of a new entry, or names one; the fields are its options.
    """

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

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry."""
        return self._run(call, "add", title, {**fields, "text": text})

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry that passes the check; the operation checks it again as it likes."""
        record = self.find(call, ref)
        check(item_of(record))
        text = changes.text if changes.append is None else f"{record.text.rstrip()}\n{changes.append}"
        return self._run(call, "edit", _name(record), {**changes.set, "unset": changes.unset, "text": text})

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry that passes the check."""
        record = self.find(call, ref)
        check(item_of(record))
        return self._run(call, "remove", _name(record), {})

    def _run(self, call: EntryCall, name: str, first: str, values: Mapping[str, Any]) -> Made:
        operation = self._operation(name)
        place = next((one.sent_as for one in operation.sent if not one.words), "title")
        given = operation.read({place: first, **{key: one for key, one in values.items() if one}})
        allow(operation, Caller(call.actor, surface="mcp"), given)
        context = _CallContext(call)
        found: Json = operation.run(context, **given).document()
        ref, change = found.get("ref"), found.get("change")
        summary = context.made or f"{operation.does}: {first}"
        return Made(item_of(self.find(call, ref)) if ref else None, change, call.because(summary))

    def _operation(self, name: str) -> Operation:
        """Return the operation of the system of this kind that changes memory; RefusedError `entry.read_only`."""
        verbs = (verb for system in registered() if self.name in system.kinds for verb in system.verbs)
        every = (one for verb in verbs for one in load(verb.place).walk())
        found = next((one for one in every if (one.name, one.serves) == (name, "change")), None)
        if found is None:
            words = f"{self.name} are read-only here: there is no `{name}`"
            raise RefusedError("entry.read_only", words, "use the tool that they belong to")
        return found


def _name(record: Record) -> str:
    """Return how an operation names a record: by its ref, or else its title."""
    return short(record.ref) if record.ref else record.title


class _CallContext:
    """The context of an operation that an agent calls by a tool (see `memory.operations.Context`)."""

    folder = actor_option = made = None
    served = safe = True
    environ: Mapping[str, str] = {}
    origin = "mcp"

    def __init__(self, call: EntryCall) -> None:
        self.workspace, self.root = call.workspace, call.workspace.root
        self.actor = self.named_actor = call.actor
        self.now = call.now

    @property
    def snapshot(self) -> Snapshot:
        """The memory files."""
        return self.workspace.snapshot()

    def change(self, operation: str, build: Callable[[Snapshot], Edit]) -> Outcome:
        """Make a change of the memory files."""
        return self.workspace.change(operation, build, actor=self.actor, now=self.now)

    def tell(self, words: str) -> None:
        """Say nothing beside the answer."""

    def warn(self) -> None:
        """Say nothing beside the answer."""

    def progress(self, what: str) -> None:
        """Show nothing."""
