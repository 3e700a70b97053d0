"""What a planned change of an agent does, in the kinds that rules name, and whether a person wrote what it changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from memory.document import parse
from memory.document.compare import Region, lines_of
from memory.document.match import units_of
from memory.document.nodes import bare
from memory.storage.changes import OUTSIDE, OWN, FileChange, Touched, is_agent
from memory.storage.store import SharedLog

from .policy import Kind

_MOST_LOOKED_AT = 300
"""How many changes of a file are searched for the author of a text; older text counts as a person's."""
_STATUS = frozenset({"progress", "started", "completed", "lastupdate", "status", "lastcheck", "laststatus"})
"""The fields that say how far something is, in small letters and without blanks."""
_FIELD = re.compile(rb"[ \t]*[-*][ \t]+(?:\*\*)?([A-Za-z][A-Za-z ]*?)(?:\*\*)?[ \t]*:")
_UPDATED = re.compile(rb"updated[ \t]*:")
_BOX = re.compile(rb"\[[ xX/~-]\]")
_RULE = re.compile(rb"-{2,}")
_JSON = (b'"', b"[", b"]", b"{", b"}")
Lines = Counter[bytes]


class _Part(NamedTuple):
    """An entry or another text of a file, before and after a change; `moved` says that its section is another one.

    `ref` is that of an entry before the change, None for any other text.
    """

    path: str
    ref: str | None
    before: bytes
    after: bytes
    moved: bool = False


def kinds_of(log: SharedLog, actor: str, files: Sequence[FileChange]) -> frozenset[tuple[Kind, bool]]:
    """Return the kinds of a change, each with whether it is about a person's text; what is added is new text.

    Paths are as seen from the workspace.
    """
    parts = [part for file in files for part in _parts(log, file)]
    copies: dict[bytes, list[Lines]] = {}
    for part in parts:
        lines = _lines(b"" if part.before else part.after)
        for line in lines:
            copies.setdefault(line, []).append(lines)
    bytes_before = {file.path: file.before or b"" for file in files}
    found: set[tuple[Kind, bool]] = set()
    for part in parts:
        kind = _kind(part, copies)
        if kind is not None:
            found.add((kind, kind == "add" or _is_persons(log, actor, part, bytes_before[part.path])))
    return frozenset(found)


def _kind(part: _Part, copies: Mapping[bytes, Sequence[Lines]]) -> Kind | None:
    """Return what happens to a text, None where it says the same as before.

    `copies` are the added texts by each of their lines: one that has all lines of a text is where that moved to.
    """
    before, after = _lines(part.before), _lines(part.after)
    if _text(before) - _text(after):
        copy = next((one for one in copies.get(next(iter(before)), ()) if before <= one), None)
        if copy is None:
            return "rewrite" if after - before else "remove"
        copy.clear()  # It replaces no second text.
        return "move"
    if before == after and not part.moved:
        return None
    return "add" if not part.before or (_text(after) - _text(before) and not part.moved) else "move"


def _text(lines: Lines) -> Lines:
    """Return lines without those that say how far something is, and with all check marks alike."""
    return Counter({_BOX.sub(b"[]", line): count for line, count in lines.items() if _field(line) not in _STATUS})


def _field(line: bytes) -> str:
    """Return the name of the field that a line holds, as `_STATUS` has it; nothing for another line."""
    found = _FIELD.match(line)
    return "" if found is None else found[1].replace(b" ", b"").lower().decode()


def _lines(data: bytes) -> Lines:
    """Return what the lines of a text say, without blank ones, brackets of JSON, and the time of the last change."""
    return Counter(said for line in data.splitlines() if not _UPDATED.match(line) and (said := _plain(line)))


def _plain(line: bytes) -> bytes:
    """Return a line without the brackets and commas at the end of JSON, and without what aligns a table's columns."""
    line = line.strip()
    if not line.startswith(b"|"):
        return line.rstrip(b" \t,[]{}") if line[:1] in _JSON else line
    return b"|".join(_RULE.sub(b"-", cell.strip()) for cell in line.split(b"|"))


# -- the parts of a change ------------------------------------------------------------------------------------------


def _parts(log: SharedLog, file: FileChange) -> Iterator[_Part]:
    path = file.path
    before, after = (b"" if data is None else log.authored(path, data) for data in (file.before, file.after))
    regions = log.history.touched_by(file._replace(before=before, after=after))
    if regions and regions[0].kind == "bytes":
        yield _Part(path, None, before, after)
        return
    for region in regions:
        if region.kind == "lines":
            yield from _parts_of_lines(log, path, region)
        elif region.kind == "sections":
            # A heading that goes with all the text below it is not a text of its own; one that others replace is.
            new = parse(region.after).sections
            old = [section for section in parse(region.before).sections if new or section.lead.strip()]
            was, now = (b"".join(section.heading + section.lead for section in side) for side in (old, new))
            yield _Part(path, None, was, now)
        elif region.kind != "entries":
            yield _Part(path, None, region.before, region.after)
    for unit in units_of(regions):
        ref = None if unit.before is None else log.ref(path, unit.section, unit.before)
        was, now = (b"" if entry is None else bare(entry) for entry in (unit.before, unit.after))
        yield _Part(path, ref, was, now, unit.section != unit.new_section)


def _parts_of_lines(log: SharedLog, path: str, region: Region) -> Iterator[_Part]:
    """Yield the lines that went, each with the line of the same ref that came, and the others that came."""
    come: dict[str | None, list[bytes]] = {}
    for line in lines_of(region.after):
        come.setdefault(log.line(path, line)[0], []).append(line)
    for line in lines_of(region.before):
        ref = log.line(path, line)[0]
        same = [] if ref is None else come.get(ref, [])
        yield _Part(path, ref, line, same.pop() if same else b"")
    for line in chain(*come.values()):
        yield _Part(path, None, b"", line)


# -- whose text it is, by the change log ----------------------------------------------------------------------------


def _is_persons(log: SharedLog, actor: str, part: _Part, data: bytes) -> bool:
    """Return whether a person wrote what a part changes; the files of an agent's own memory are its own."""
    reading, inside = log.reading(part.path)
    at_home = reading.owner(inside) == actor

    def is_persons(writer: str) -> bool:
        return not (is_agent(writer) or (at_home and writer == OUTSIDE))

    if part.ref is None:
        return _are_persons_lines(log, part, data, is_persons, unknown=not at_home)
    found = log.history.list(entry=part.ref)
    names, touched = {part.ref}, list[Touched]()
    for record in found:
        touched = [one for one in record.touched if one.ref in names or one.old_ref in names]
        names |= {one.old_ref for one in touched if one.old_ref is not None}
    # The oldest change that is known has to be the one that added the entry, and did not just move it.
    added = bool(touched) and all(one.kind == "added" for one in touched)
    return not added or any(is_persons(record.actor) for record in found if record.actor not in OWN - {OUTSIDE})


def _are_persons_lines(
    log: SharedLog, part: _Part, data: bytes, is_persons: Callable[[str], bool], *, unknown: bool
) -> bool:
    """Return whether a person wrote any line that a part takes away from the bytes of a file.

    That is the writer of the change with which the line came; `unknown` is the answer where no change is known.
    """
    before = _lines(part.before)
    wanted = set(before - _lines(part.after) or before)
    for record, earlier, _ in islice(log.history.walk(part.path, data), _MOST_LOOKED_AT):
        left = wanted & set(_lines(log.authored(part.path, earlier)))
        # What came when another file went may have been in that one.
        from_elsewhere = unknown and any(file.after is None for file in record.files)
        if left != wanted and (from_elsewhere or is_persons(record.actor)):
            return True
        wanted = left
        if not wanted:
            return False
    return unknown
