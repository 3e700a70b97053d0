"""What a change did, entry by entry: the model that faces show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memory.document.compare import Region, differences
from memory.document.fields import FieldValues, read_fields
from memory.document.lines_and_headings import decode
from memory.document.nodes import bare
from memory.document.units import Unit, units_of
from memory.storage.log.records import is_by_place

from .refs.entry_refs import ref_of

if TYPE_CHECKING:
    from memory.document import Entry

Kind = Literal["added", "removed", "edited", "moved"]
FieldChange = tuple[str, "str | None", "str | None"]
"""A key with its value before and after; None: it was, or is, not there."""
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One entry of a change, or one section whose own text changed.

    `file` is where it stands now (or stood), relative to the memory folder, `entry` its ref (None: it has none),
    `moved_from` where a moved one stood: `file` or `file: section`. `fields` are those that differ. `lines` begin
    with `-` where they went, `+` where they came, a space where they stay around those.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    file: str
    entry: str | None
    title: str
    kind: Kind
    summary: str
    fields: tuple[FieldChange, ...]
    lines: tuple[str, ...]
    section: str | None = None
    moved_from: str | None = None
    before: str | None = None
    after: str | None = None

    def json(self) -> dict[str, Any]:
        """Return it under the keys of the interface."""
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


@dataclass(frozen=True, slots=True)
class FileRegions:
    """What was different in one file of a change; `file` is relative to the memory folder."""

    file: str
    regions: Sequence[Region]


def change_views(
    files: Sequence[FileRegions],
    *,
    id: str,  # noqa: A002 - the name of the attribute
    time: datetime,
    actor: str,
    operation: str,
    summary: str,
) -> tuple[ChangeView, ...]:
    """Return what became of each entry, in the order of the files; an entry that went to another file is one view."""
    found: list[ChangeView] = []
    units = [
        (one.file, unit) for one in files for unit in units_of(one.regions, by_place=is_by_place(actor, operation))
    ]
    partners, taken = _partners(units)
    for index, (file, unit) in enumerate(units):
        if index in taken:
            continue
        other = partners.get(index)
        new_file, after = (file, unit) if other is None else units[other]
        found.append(_entry_view(file, unit, new_file, after, (id, time, actor, operation, summary)))
    for one in files:
        for region in one.regions:
            view = _text_view(one.file, region, (id, time, actor, operation, summary))
            if view is not None:
                found.append(view)
    return tuple(found)


def _partners(units: Sequence[tuple[str, Unit]]) -> tuple[dict[int, int], set[int]]:
    """Pair what left one file with what came into another: equal entries first, then those of one ref."""
    came: dict[object, list[int]] = {}
    for index, (file, unit) in enumerate(units):
        if unit.before is None and unit.after is not None:
            came.setdefault(bare(unit.after), []).append(index)
            came.setdefault(ref_of(file, unit.new_section, unit.after), []).append(index)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for by_ref in (False, True):
        for index, (file, unit) in enumerate(units):
            if unit.before is None or unit.after is not None or index in pairs:
                continue
            name = ref_of(file, unit.section, unit.before) if by_ref else bare(unit.before)
            for place in came.get(name, ()) if name is not None else ():
                if place not in taken and units[place][0] != file:
                    pairs[index] = place
                    taken.add(place)
                    break
    return pairs, taken


def _entry_view(
    file: str, unit: Unit, new_file: str, other: Unit, head: tuple[str, datetime, str, str, str]
) -> ChangeView:
    before, after = unit.before, other.after
    entry = after or before
    assert entry is not None
    section = other.new_section if after is not None else unit.section
    place: str | None = None
    if before is None:
        kind: Kind = "added"
    elif after is None:
        kind = "removed"
    elif (file, unit.section) == (new_file, other.new_section):
        kind = "edited"
    else:
        kind = "moved"
        place = unit.section if file == new_file else f"{file}: {unit.section}" if unit.section else file
    change_id, time, actor, operation, summary = head
    return ChangeView(
        *(change_id, time, actor, operation, new_file, ref_of(new_file, section, entry), entry.title, kind, summary),
        fields=tuple(_fields(before, after)),
        lines=line_changes(_shown(before), _shown(after)),
        section=section,
        moved_from=place,
        before=None if before is None else before.text,
        after=None if after is None else after.text,
    )


def _shown(entry: Entry | None) -> str:
    return "" if entry is None else decode(bare(entry))


def _fields(before: Entry | None, after: Entry | None) -> Iterator[FieldChange]:
    old = before.fields if before is not None else read_fields("")
    new = after.fields if after is not None else read_fields("")
    if before is not None and after is not None and before.title != after.title:
        yield "title", before.title, after.title
    yield from _field_changes(old, new)


def _field_changes(old: FieldValues, new: FieldValues) -> Iterator[FieldChange]:
    for key in dict.fromkeys((*old, *new)):
        one, other = old.get(key), new.get(key)
        if one != other:
            yield key, one, other


def _text_view(file: str, region: Region, head: tuple[str, datetime, str, str, str]) -> ChangeView | None:
    """Return the view of a section's own text, of the front matter, or of a part of a file without entries."""
    change_id, time, actor, operation, summary = head
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
    return ChangeView(
        *(change_id, time, actor, operation, file, None, title, kind, summary),
        fields=tuple(_field_changes(read_fields(before), read_fields(after))) if region.kind == "body" else (),
        lines=line_changes(before, after),
        section=region.section,
    )


def line_changes(before: str, after: str, context: int = _CONTEXT) -> tuple[str, ...]:
    """Return the lines that went and came, with those around them; `…` stands for lines left out in between."""
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
