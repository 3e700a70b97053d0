"""Looks up a ref that no longer fits an entry in the change log: where its entry is now, or what happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.base.clock import format_local
from memory.document.match import units_of
from memory.document.nodes import bare

from .refs import SHORT, RefTrace, tell_apart
from .snapshot import plain_title, ref_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from memory.document import Entry
    from memory.storage.changes import ChangeRecord
    from memory.storage.log.history import History

MOST = 200
"""The most changes of entries of one identity that are read."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The change log of a workspace, the path of its memory folder in it (ending in `/`), and its zone."""

    history: History
    folder: str
    zone: Callable[[], tzinfo]


@dataclass(slots=True)
class _Step:
    """What one change did to the entries of one identity; an entry that only moved is in `moved` alone."""

    record: ChangeRecord
    gone: list[Entry] = field(default_factory=list)
    come: list[Entry] = field(default_factory=list)
    moved: list[Entry] = field(default_factory=list)
    renamed: dict[bytes, str] = field(default_factory=dict)

    def settle(self) -> None:
        """Move entries that were removed and added unchanged to `moved`."""
        for entry in tuple(self.gone):
            same = next((other for other in self.come if bare(other) == bare(entry)), None)
            if same is not None:
                self.gone.remove(entry)
                self.come.remove(same)
                self.moved.append(same)


def trace(trail: Trail, kind: str, digits: str) -> RefTrace | None:
    """Return what happened to the entry of a ref (`kind`, `digits`), None where the log has nothing about it.

    No choice is made between several entries: where a change touched more than one that the ref could mean, the result
    has neither source nor ref.
    """
    steps = list(_steps(trail, kind, digits[:SHORT]))
    if steps and len(digits) <= SHORT:
        entries = steps[-1].gone or steps[-1].moved
        if len(entries) != 1 or steps[-1].come:
            return None
        return _said(trail, kind, steps[-1], entries[0])
    for at, step in enumerate(steps):
        for entry in (*step.gone, *step.moved):
            if tell_apart(digits[:SHORT], [bare(entry)])[0].startswith(digits):
                return _followed(trail, kind, entry, steps[at:])
    return None


def _followed(trail: Trail, kind: str, entry: Entry, steps: Sequence[_Step]) -> RefTrace:
    """Follow an entry from the first change that touched it to the last one."""
    found = _said(trail, kind, steps[0], entry)
    source = bare(entry)
    for step in steps:
        touched = next((one for one in (*step.gone, *step.moved) if bare(one) == source), None)
        if touched is None:
            if found.gone and [bare(one) for one in step.come] == [source]:  # It was restored unchanged.
                found = _said(trail, kind, step, step.come[0], source)
        elif touched in step.moved:
            found = _said(trail, kind, step, touched, source)
        elif len(step.gone) > 1:
            return _said(trail, kind, step, touched)._replace(gone=False)
        else:
            # The completed run of a recurring task is another entry.
            come = step.come if len(step.come) < 2 else [one for one in step.come if not one.fields.get("completed")]
            if len(come) > 1 or (step.come and not come):
                return _said(trail, kind, step, touched)._replace(gone=False)
            source = bare(come[0]) if come else source
            found = _said(trail, kind, step, come[0] if come else touched, source if come else None)
            if found.ref is not None:
                return found
    return found


def _steps(trail: Trail, kind: str, identity: str) -> Iterator[_Step]:
    """Yield what each change did to the entries of an identity, oldest first."""
    for record in reversed(trail.history.list(MOST, entry=f"{kind}#{identity}")):
        step = _Step(record)
        for file in record.files:
            if file.kept is None:
                continue
            name = file.path.removeprefix(trail.folder)
            for unit in units_of(trail.history.regions(record, file)):
                old = None if unit.before is None else ref_of(name, unit.section, unit.before)
                new = None if unit.after is None else ref_of(name, unit.new_section, unit.after)
                was, is_ = _is(old, kind, identity), _is(new, kind, identity)
                if was and unit.before is not None:
                    step.gone.append(unit.before)
                    if new is not None and not is_:
                        step.renamed[bare(unit.before)] = new
                if is_ and unit.after is not None:
                    step.come.append(unit.after)
        step.settle()
        if step.gone or step.come or step.moved:
            yield step


def _is(ref: str | None, kind: str, identity: str) -> bool:
    return ref is not None and ref.startswith(f"{kind}#{identity}")


_DONE = {
    "tasks.done": "completed",
    "tasks.remove": "removed",
    "journal.remove": "removed",
    "monitors.remove": "removed",
    "archive": "archived",
    "maintain": "archived",
    "prune": "archived",
    "undo": "undone",
}


def _said(trail: Trail, kind: str, step: _Step, entry: Entry, source: bytes | None = None) -> RefTrace:
    """Return what a change did to an entry: `source` is what is left of it, None where it was removed or renamed."""
    record, ref = step.record, step.renamed.get(bare(entry))
    gone = source is None and ref is None and not step.moved
    done = _DONE.get(record.operation, "removed" if gone else "changed")
    by = "another program" if record.actor == "outside" else record.actor
    words = "got another name, as it " if ref is not None else ""
    said = f"{words}was {done} by {by} at {format_local(record.time, trail.zone())}"
    details = {"change": record.id, "time": record.time.isoformat().replace("+00:00", "Z"), "actor": record.actor}
    file = {"orchestration": "orchestration.md"}.get(kind, f"{kind}.md")
    return RefTrace(said, plain_title(file, entry.title), source, ref, gone, details)
