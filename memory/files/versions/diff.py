"""What changes did, entry by entry: for user interfaces, and to find the entry of a ref that fits none any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Literal, NamedTuple

from memory.base.clock import exact_utc, format_local
from memory.document import Entry
from memory.document.compare import Region, differences
from memory.document.lines import decode, read_fields
from memory.document.match import Unit, pair, units_of
from memory.document.nodes import bare
from memory.files.refs import SHORT, RefTrace, tell_apart
from memory.files.snapshot import plain_title, ref_of
from memory.storage.changes import ChangeRecord, is_by_place
from memory.storage.log import ChangeLog

Kind = Literal["added", "removed", "edited", "moved"]
FieldChange = tuple[str, "str | None", "str | None"]
"""A key with its value before and after; None where it is missing."""
_CONTEXT = 2


class ChangeView(NamedTuple):
    """One entry of a change, or one section whose own text changed.

    `file` is its file after the change (or before, if removed), relative to the memory folder, `entry` its ref (None:
    it has none), `moved_from` the old place of a moved one: `file` or `file: section`. `fields` are those that differ.
    `lines` begin with `-` if removed, `+` if added, and a space if they are unchanged context.
    """

    file: str
    entry: str | None
    title: str
    kind: Kind
    fields: tuple[FieldChange, ...]
    lines: tuple[str, ...]
    section: str | None = None
    moved_from: str | None = None
    before: str | None = None
    after: str | None = None

    def json(self) -> dict[str, Any]:
        """Return the view as a dict with the keys of the JSON interface."""
        return {
            "file": self.file,
            "entry": self.entry,
            "title": self.title,
            "kind": self.kind,
            "section": self.section,
            "movedFrom": self.moved_from,
            "fields": [{"key": key, "before": old, "after": new} for key, old, new in self.fields],
            "lines": list(self.lines),
        }


def change_views(files: Sequence[tuple[str, Sequence[Region]]], actor: str, operation: str) -> tuple[ChangeView, ...]:
    """Return the view of each changed entry, in the order of the files; an entry moved to another file is one view.

    `files` are the names of files, relative to the memory folder, with the regions that the change replaced in each.
    """
    found: list[ChangeView] = []
    by_place = is_by_place(actor, operation)
    units = [(file, unit) for file, regions in files for unit in units_of(regions, by_place=by_place)]
    pairs = _partners(units)
    taken = set(pairs.values())
    for index, (file, unit) in enumerate(units):
        if index in taken:
            continue
        other = pairs.get(index)
        new_file, after = (file, unit) if other is None else units[other]
        found.append(_entry_view(file, unit, new_file, after))
    texts = (_text_view(file, region) for file, regions in files for region in regions)
    return (*found, *(view for view in texts if view is not None))


def _partners(units: Sequence[tuple[str, Unit]]) -> dict[int, int]:
    """Pair entries removed from one file with entries added to another: equal ones first, then those of one ref."""
    gone = [(index, *unit) for index, unit in enumerate(units) if unit[1].after is None]
    come = [(index, *unit) for index, unit in enumerate(units) if unit[1].before is None]
    pairs = pair(gone, come, [_source, _ref], lambda one, other: one[1] != other[1])
    return {gone[before][0]: come[after][0] for after, before in pairs.items()}


def _source(part: tuple[int, str, Unit]) -> bytes:
    entry = part[2].before or part[2].after
    return b"" if entry is None else bare(entry)


def _ref(part: tuple[int, str, Unit]) -> str | None:
    _, file, unit = part
    entry = unit.before or unit.after
    return None if entry is None else ref_of(file, unit.section if unit.before else unit.new_section, entry)


def _entry_view(file: str, unit: Unit, new_file: str, other: Unit) -> ChangeView:
    before, after = unit.before, other.after
    entry = after or before
    assert entry is not None
    section = other.new_section if after is not None else unit.section
    kind: Kind = "added" if before is None else "removed" if after is None else "edited"
    place: str | None = None
    if before is not None and after is not None and (file, unit.section) != (new_file, other.new_section):
        kind = "moved"
        place = unit.section if file == new_file else f"{file}: {unit.section}" if unit.section else file
    fields, lines = tuple(_fields(before, after)), line_changes(_shown(before), _shown(after))
    texts = [None if one is None else one.text for one in (before, after)]
    ref = ref_of(new_file, section, entry)
    return ChangeView(new_file, ref, entry.title, kind, fields, lines, section, place, *texts)


def _shown(entry: Entry | None) -> str:
    return "" if entry is None else decode(bare(entry))


def _fields(before: Entry | None, after: Entry | None) -> Iterator[FieldChange]:
    if before is not None and after is not None and before.title != after.title:
        yield "title", before.title, after.title
    yield from _field_changes({} if before is None else before.fields, {} if after is None else after.fields)


def _field_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[FieldChange]:
    for key in dict.fromkeys((*old, *new)):
        one, other = old.get(key), new.get(key)
        if one != other:
            yield key, one, other


def _text_view(file: str, region: Region) -> ChangeView | None:
    """Return the view of a section's own text, of the front matter, or of part of a file without entries."""
    before, after = decode(region.before), decode(region.after)
    if region.kind in ("entries", "sections"):
        return None
    if region.kind == "top":
        title = "front matter"
        rows = [line for line in line_changes(before, after) if line[0] != " "]
        if all(line[1:].startswith(("updated:", "---", "type:")) or not line[1:].strip() for line in rows):
            return None  # Every change sets the time.
    elif region.kind == "body":
        title = region.section or file
        if before.strip() == after.strip():
            return None
    else:
        title = file
    kind: Kind = "added" if not before.strip() else "removed" if not after.strip() else "edited"
    fields = tuple(_field_changes(read_fields(before), read_fields(after))) if region.kind == "body" else ()
    return ChangeView(file, None, title, kind, fields, line_changes(before, after), region.section)


def line_changes(before: str, after: str, context: int = _CONTEXT) -> tuple[str, ...]:
    """Return the removed and added lines with context lines; `…` marks lines left out in between."""
    old, new = before.splitlines(), after.splitlines()
    shown: list[str] = []
    at = 0
    gaps = differences(old, new)
    for index, (a0, a1, b0, b1) in enumerate(gaps):
        start = max(at, a0 - context)
        if start > at and shown:
            shown.append("…")
        shown += (f" {line}" for line in old[start:a0])
        shown += (f"-{line}" for line in old[a0:a1])
        shown += (f"+{line}" for line in new[b0:b1])
        limit = gaps[index + 1][0] if index + 1 < len(gaps) else len(old)
        at = min(limit, a1 + context)
        shown += (f" {line}" for line in old[a1:at])
    return tuple(shown)


MOST = 200
"""The most changes of entries of one identity that are read."""
_DONE = {"tasks.done": "completed", "undo": "undone"} | dict.fromkeys(("archive", "maintain", "prune"), "archived")
"""What operations do with an entry that they change or remove."""


class Trail(NamedTuple):
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
            if found is not None and found.source is not None:
                same = source == found.source
            else:
                same = len(digits) <= SHORT or tell_apart(digits[:SHORT], [source])[0].startswith(digits)
            touched += [(name, unit)] if same else []
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
