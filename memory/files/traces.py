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
_MOST_EQUAL = 12
"""The most byte-equal entries among which one is still recognised by its ref."""


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
    if not steps:
        return None
    if len(digits) <= SHORT:
        return _last(trail, kind, steps)
    ends = [
        _followed(trail, kind, bare(entry), steps[at:])
        for at, step in enumerate(steps)
        for entry in step.gone
        if _names(digits, entry)
    ]
    if ends:
        same = all((end.source, end.ref, end.gone) == (ends[0].source, ends[0].ref, ends[0].gone) for end in ends)
        return ends[-1] if same else RefTrace(f"{ends[-1].words}, and so were others", ends[-1].title)
    for step in reversed(steps):
        for entry in step.moved:
            if _names(digits, entry):
                return _said(trail, kind, step.record, entry, source=bare(entry))
        for entry in step.gone:
            # One of several equal entries: it is not known which of them was removed.
            for count in range(2, _MOST_EQUAL + 1):
                if _names(digits, entry, count):
                    return _said(trail, kind, step.record, entry, f"was one of {count} equal ones, of which one")
    return None


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


def _names(digits: str, entry: Entry, count: int = 1) -> bool:
    """Return whether digits are those of an entry, or of one of `count` equal ones."""
    return any(name.startswith(digits) for name in tell_apart(digits[:SHORT], [bare(entry)] * count))


def _last(trail: Trail, kind: str, steps: Sequence[_Step]) -> RefTrace | None:
    """Return what the newest change did to the one entry of an identity."""
    step = steps[-1]
    if step.moved and not step.gone:
        return _said(trail, kind, step.record, step.moved[0])
    if len(step.gone) != 1 or step.come:
        return None
    return _ended(trail, kind, step, step.gone[0])


def _followed(trail: Trail, kind: str, source: bytes, steps: Sequence[_Step]) -> RefTrace:
    """Follow an entry by its source, from the change that removed this source."""
    found: RefTrace | None = None
    for step in steps:
        entry = next((one for one in step.gone if bare(one) == source), None)
        if entry is None:
            if found is not None and found.gone and [bare(one) for one in step.come] == [source]:
                # It was restored unchanged.
                found = _said(trail, kind, step.record, step.come[0], source=source)
            continue
        if len(step.gone) > 1 or source in step.renamed:
            found = _ended(trail, kind, step, entry)
            if found.ref is None or len(step.gone) > 1:
                return _said(trail, kind, step.record, entry)
            return found
        # The completed run of a recurring task is another entry.
        come = step.come if len(step.come) < 2 else [one for one in step.come if not one.fields.get("completed")]
        if len(come) > 1 or (step.come and not come):
            return _said(trail, kind, step.record, entry)
        if come:
            source = bare(come[0])
            found = _said(trail, kind, step.record, come[0], source=source)
        else:
            found = _ended(trail, kind, step, entry)
    assert found is not None  # the first step took it away
    return found


def _ended(trail: Trail, kind: str, step: _Step, entry: Entry) -> RefTrace:
    ref = step.renamed.get(bare(entry))
    if ref is not None:
        return _said(trail, kind, step.record, entry, "got another name, as it", ref=ref)
    return _said(trail, kind, step.record, entry, gone=True)


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


def _said(
    trail: Trail,
    kind: str,
    record: ChangeRecord,
    entry: Entry,
    words: str = "",
    *,
    source: bytes | None = None,
    ref: str | None = None,
    gone: bool = False,
) -> RefTrace:
    done = _DONE.get(record.operation, "removed" if gone else "changed")
    by = "another program" if record.actor == "outside" else record.actor
    when = format_local(record.time, trail.zone())
    said = f"{words} was {done} by {by} at {when}".strip()
    details = {"change": record.id, "time": record.time.isoformat().replace("+00:00", "Z"), "actor": record.actor}
    file = {"orchestration": "orchestration.md"}.get(kind, f"{kind}.md")
    return RefTrace(said, plain_title(file, entry.title), source, ref, gone, details)
