"""Looks up a ref that no longer fits an entry in the change log: where its entry is now, or what happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from memory.base.clock import exact_utc, format_local
from memory.document.match import Unit, units_of
from memory.document.nodes import bare
from memory.files.refs import SHORT, RefTrace, tell_apart
from memory.files.snapshot import plain_title, ref_of
from memory.storage.changes import ChangeRecord
from memory.storage.log.log import ChangeLog

MOST = 200
"""The most changes of entries of one identity that are read."""
_DONE = {
    "tasks.done": "completed",
    "archive": "archived",
    "maintain": "archived",
    "prune": "archived",
    "undo": "undone",
}
"""What operations do with an entry that they change or remove."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The change log of a workspace, the path of its memory folder in it (ending in `/`), and its zone."""

    history: ChangeLog
    folder: str
    zone: Callable[[], tzinfo]


def trace(trail: Trail, kind: str, digits: str) -> RefTrace | None:
    """Return what happened to the entry of a ref (`kind`, `digits`), None where the log has nothing about it.

    The entry is followed from change to change. No choice is made between several: where a change touched more than one
    that the ref could mean, the result has neither source nor ref.
    """
    ref = f"{kind}#{digits[:SHORT]}"
    found: RefTrace | None = None
    for record in reversed(trail.history.list(MOST, entry=ref)):
        touched, changed = [], 0
        for name, unit in _units(trail, record):
            if unit.before is None or ref_of(name, unit.section, unit.before) != ref:
                continue
            source = bare(unit.before)
            changed += unit.after is None or bare(unit.after) != source
            known = None if found is None else found.source
            if known is not None:
                same = source == known
            else:
                same = len(digits) <= SHORT or tell_apart(digits[:SHORT], [source])[0].startswith(digits)
            if same:
                touched.append((name, unit))
        if touched:
            found = _said(trail, kind, record, *touched[0], ref, one=changed < 2)
    return found


def _units(trail: Trail, record: ChangeRecord) -> Iterator[tuple[str, Unit]]:
    """Yield the entries that a change touched, each with the name of its file."""
    for file in record.files:
        if file.kept is not None:
            name = file.path.removeprefix(trail.folder)
            yield from ((name, unit) for unit in units_of(trail.history.regions(record, file)))


def _said(trail: Trail, kind: str, record: ChangeRecord, name: str, unit: Unit, ref: str, *, one: bool) -> RefTrace:
    """Return what a change did to an entry, which is the only one that the ref could mean if `one` is true."""
    assert unit.before is not None
    after = None if unit.after is None else ref_of(name, unit.new_section, unit.after)
    gone, renamed = after is None, after if after != ref else None
    done = _DONE.get(record.operation, "removed" if gone else "changed")
    by = "another program" if record.actor == "outside" else record.actor
    words = f"{'got another name, as it ' if renamed else ''}was {done} by {by} at "
    words += format_local(record.time, trail.zone())
    details = {"change": record.id, "time": exact_utc(record.time), "actor": record.actor}
    file = {"orchestration": "orchestration.md"}.get(kind, f"{kind}.md")
    source = bare(unit.after) if one and unit.after is not None and renamed is None else None
    title = plain_title(file, unit.before.title)
    return RefTrace(words, title, source, renamed if one else None, gone and one, details)
