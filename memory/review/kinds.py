"""The kinds of a planned change, as the rules of `policy` name them: its action, and the author of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

from memory.document import parse
from memory.document.compare import Region, lines_of
from memory.document.match import Unit, units_of
from memory.document.nodes import bare
from memory.storage.changes import OUTSIDE, OWN, FileChange, is_agent
from memory.storage.log.log import ChangeLog
from memory.storage.log.rows import OF_FILE, key
from memory.storage.store import SharedLog

from .policy import Kind

Author = Literal["own", "agents", "person"]
_MOST_LOOKED_AT = 300
"""How many changes of a file are searched for the author of a text; older text counts as a person's."""
_NEUTRAL = OWN - {OUTSIDE}

STATUS = frozenset({"progress", "started", "completed", "outcome", "lastupdate", "status", "lastcheck", "laststatus"})
"""The fields that say how far something is, in small letters and without blanks; an outcome is a text once written."""
_RULE = re.compile(rb"-{2,}")
_UPDATED = re.compile(rb"updated[ \t]*:")
_FIELD = re.compile(rb"[ \t]*[-*][ \t]+(?:\*\*)?([A-Za-z][A-Za-z ]*?)(?:\*\*)?[ \t]*:")
_JSON = (b'"', b"[", b"]", b"{", b"}")
_BOX = re.compile(rb"\[[ xX/~-]\]")


class ChangePart(NamedTuple):
    """One thing that a change does: its kind for a person's text, and the file and entry (None: none) it is about."""

    kind: Kind
    path: str
    ref: str | None
    before: bytes
    after: bytes


def kinds_of(stores: SharedLog, actor: str, files: tuple[FileChange, ...]) -> frozenset[Kind]:
    """Return the kinds of a change: for each part of it `own` or `agents` where it changes no text of a person.

    Paths are as seen from the workspace.
    """
    moved = _moved_files(files)
    parts = _without_moved([part for file in files if file not in moved for part in _parts(stores, file)])
    parts += [ChangePart("move", file.path, None, file.before or b"", b"") for file in moved if file.after is None]

    @cache
    def author_of(path: str, ref: str | None) -> Author:
        history = stores.history
        return _author_of_file(history, actor, path) if ref is None else _author_of_entry(history, actor, ref)

    found: set[Kind] = set()
    for part in parts:
        if part.kind == "add":
            found.add("add")
            continue
        file = next(file for file in files if file.path == part.path)
        if part.ref is None and part.before and file.before is not None:
            author = _author_of_lines(stores, actor, file, part)
        else:
            author = author_of(part.path, part.ref)
        found.add(part.kind if author == "person" else author)
    return frozenset(found)


def _moved_files(files: tuple[FileChange, ...]) -> list[FileChange]:
    """Return the files that go and come again under another name with all their bytes, and those that come so."""
    gone = [file for file in files if file.after is None and file.before is not None]
    found = []
    for file in files:
        source = next((one for one in gone if one.before == file.after and one not in found), None)
        if file.before is None and file.after is not None and source is not None:
            found += [source, file]
    return found


def _without_moved(parts: list[ChangePart]) -> list[ChangePart]:
    """Return the parts; a text that is removed in one place and added in another byte for byte is moved."""
    come = Counter(part.after.strip() for part in parts if part.kind == "add")
    copies = [_lines(part.after) for part in parts if part.kind == "add" and part.after]
    found = []
    for part in parts:
        if part.kind == "rewrite" and part.ref is not None and any(_is_next(part, copy) for copy in copies):
            part = part._replace(kind="status")
        if part.kind == "remove" and part.before.strip() and come[part.before.strip()] > 0:
            come[part.before.strip()] -= 1
            part = part._replace(kind="move")
        found.append(part)
    return found


def _lines(data: bytes) -> set[bytes]:
    return {_plain(line).strip() for line in data.splitlines() if line.strip()}


def _is_next(part: ChangePart, copy: set[bytes]) -> bool:
    """Tell whether an entry that recurs only got its next date, for it was finished: a copy of it is completed now."""
    gone = [line for line in _lines(part.before) - _lines(part.after) if not _is_status(line)]
    heading = part.before.strip().partition(b"\n")[0].strip()
    finished = any(_name(line) == b"completed" for line in copy)
    return finished and heading in copy and bool(gone) and all(_name(line) == b"due" for line in gone)


def _parts(stores: SharedLog, file: FileChange) -> Iterator[ChangePart]:
    path = file.path
    sides = [None if data is None else stores.authored(path, data) for data in (file.before, file.after)]
    file = file._replace(before=sides[0], after=sides[1])
    if file.before == file.after:
        return
    regions = stores.history.touched_by(file)
    for region in regions:
        if region.kind == "lines":
            yield from _line_parts(stores, path, region)
        elif region.kind in ("body", "top"):
            yield _text_part(path, region.before, region.after)
        elif region.kind == "bytes":
            yield _text_part(path, file.before or b"", file.after or b"")
            return
        elif region.kind == "sections":
            yield from _sections_part(path, region)
    for unit in units_of(regions):
        before = None if unit.before is None else stores.ref(path, unit.section, unit.before)
        yield _unit_part(path, unit, before)


def _unit_part(path: str, unit: Unit, ref: str | None) -> ChangePart:
    old = b"" if unit.before is None else bare(unit.before)
    new = b"" if unit.after is None else bare(unit.after)
    if unit.before is None:
        return ChangePart("add", path, ref, old, new)
    if unit.after is None:
        return ChangePart("remove", path, ref, old, new)
    kind: Kind = _text_kind(old, new, moved=unit.section != unit.new_section)
    return ChangePart(kind, path, ref, old, new)


def _text_kind(old: bytes, new: bytes, *, moved: bool = False) -> Kind:
    """Return what became of a text: only moved, only longer, only its status, or rewritten."""
    before, after = (Counter(filter(None, map(_plain, data.splitlines()))) for data in (old, new))
    gone, come = before - after, after - before
    if not gone:
        if not come:
            return "move"
        return "status" if moved or all(map(_is_status, come)) else "add"
    if any(_name(line) == b"outcome" for line in gone):
        return "rewrite"
    # Lines that differ in nothing but check marks and status fields are no new text.
    left = Counter(_BOX.sub(b"[]", line) for line in gone if not _is_status(line))
    return "rewrite" if left - Counter(_BOX.sub(b"[]", line) for line in come) else "status"


def _plain(line: bytes) -> bytes:
    """Return what a line says: without spaces at its end, without brackets and commas at that of a line of JSON, and of
    a row of a table without what aligns its columns.
    """
    if not line.lstrip().startswith(b"|"):
        return line.rstrip(b" \t\r\n,[]{}" if line.lstrip()[:1] in _JSON else None)
    return b"|".join(_RULE.sub(b"-", cell.strip()) for cell in line.strip().split(b"|"))


def _is_status(line: bytes) -> bool:
    return _name(line).decode() in STATUS


def _name(line: bytes) -> bytes:
    """Return the name of the field that a line holds, as `STATUS` has it; nothing for another line."""
    found = _FIELD.match(line)
    return b"" if found is None else found[1].replace(b" ", b"").lower()


def _text_part(path: str, old: bytes, new: bytes) -> ChangePart:
    """Return what became of a front matter or of a section's own text; that it was `updated` is nothing."""
    before, after = (
        b"\n".join(_plain(line) for line in data.splitlines() if line.strip() and not _UPDATED.match(line))
        for data in (old, new)
    )
    gone = Counter(before.splitlines()) - Counter(after.splitlines())
    come = Counter(after.splitlines()) - Counter(before.splitlines())
    kind: Kind = "add" if not gone else "rewrite" if come else "remove"
    return ChangePart(kind, path, None, b"\n".join(gone.elements()), after)


def _sections_part(path: str, region: Region) -> Iterator[ChangePart]:
    """Yield what became of the headings and own texts of sections; their entries are units.

    A heading that goes with all the text below it is not a text of its own; one that others replace is.
    """
    new = parse(region.after).sections
    old = [part for part in parse(region.before).sections if new or part.lead.strip()]
    if old or new:
        before, after = (b"".join(part.heading + part.lead for part in parts) for parts in (old, new))
        yield _text_part(path, before, after)


def _line_parts(stores: SharedLog, path: str, region: Region) -> Iterator[ChangePart]:
    """Yield the lines that went and came; one whose ref came too was rewritten."""
    come = lines_of(region.after)
    refs = {stores.line(path, line)[0] for line in come}
    for line in lines_of(region.before):
        ref = stores.line(path, line)[0]
        if line.rstrip(b"\r\n") in {one.rstrip(b"\r\n") for one in come}:
            continue
        yield ChangePart("rewrite" if ref is not None and ref in refs else "remove", path, ref, line, b"")
    for line in come:
        yield ChangePart("add", path, None, b"", line)


def _author_of_lines(stores: SharedLog, actor: str, file: FileChange, part: ChangePart) -> Author:
    """Return whose lines a part takes away: by the change with which each came."""
    at_home = stores.owner(part.path) == actor
    wanted = _lines(part.before)
    writers: set[Author] = set()
    for record, before, _ in islice(stores.history.walk(part.path, file.before or b""), _MOST_LOOKED_AT):
        writer, found = record.actor, wanted - _lines(stores.authored(part.path, before))
        if found:
            writers.add("own" if at_home and writer == OUTSIDE else _whose(actor, writer))
            wanted -= found
        if not wanted:
            break
    if "person" in writers or ((wanted or not writers) and not at_home):
        return "person"
    return "agents" if "agents" in writers else "own"


# -- whose text it is, by the change log ---------------------------------------------------------------------------


def _author_of_entry(history: ChangeLog, actor: str, ref: str) -> Author:
    """Return the author of an entry: an agent only where it added the entry and no one else changed it since."""
    found = history.list(entry=ref)
    if not found or not any(one.ref == ref or one.old_ref == ref for record in found for one in record.touched):
        return "person"
    # The oldest change that is known has to be the one by which the entry came.
    oldest = [one for one in found[-1].touched if one.ref is not None]
    if not any(one.kind == "added" for one in oldest):
        return "person"
    return _of(actor, (record.actor for record in found))


def _author_of_file(history: ChangeLog, actor: str, path: str) -> Author:
    """Return the author of a whole file: an agent only where it made the file and no one else wrote to it since."""
    found = history.records(OF_FILE, [key(path)], 0)
    if not found or next(file for file in found[-1].files if file.path == path).before is not None:
        return "person"
    return _of(actor, (record.actor for record in found))


def _whose(actor: str, writer: str) -> Author:
    """Return what a writer is to an agent."""
    if writer == actor:
        return "own"
    return "agents" if is_agent(writer) else "person"


def _of(actor: str, writers: Iterable[str]) -> Author:
    """Return whose text it is that several wrote; what memdeck does by itself makes no difference."""
    left = {_whose(actor, writer) for writer in writers if writer not in _NEUTRAL}
    if not left or "person" in left:
        return "person"
    return "agents" if "agents" in left else "own"
