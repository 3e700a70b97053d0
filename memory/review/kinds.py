"""The kinds of a planned change, as the rules of `policy` name them: its action, and the author of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from memory.document import parse
from memory.document.compare import Region, lines_of
from memory.document.match import units_of
from memory.document.nodes import bare
from memory.storage.changes import OUTSIDE, OWN, FileChange, is_agent
from memory.storage.store import SharedLog

from .policy import Kind

_MOST_LOOKED_AT = 300
"""How many changes of a file are searched for the author of a text; older text counts as a person's."""
_STATUS = frozenset({"progress", "started", "completed", "outcome", "lastupdate", "status", "lastcheck", "laststatus"})
"""The fields that say how far something is, in small letters and without blanks; an outcome is a text once written."""
_RULE = re.compile(rb"-{2,}")
_UPDATED = re.compile(rb"updated[ \t]*:")
_FIELD = re.compile(rb"[ \t]*[-*][ \t]+(?:\*\*)?([A-Za-z][A-Za-z ]*?)(?:\*\*)?[ \t]*:")
_JSON = (b'"', b"[", b"]", b"{", b"}")
_BOX = re.compile(rb"\[[ xX/~-]\]")


class ChangePart(NamedTuple):
    """One thing that a change does: its kind for a person's text, the file and the entry (None: none) that it is about,
    and the text before and after.
    """

    kind: Kind
    path: str
    ref: str | None
    before: bytes
    after: bytes


def kinds_of(log: SharedLog, actor: str, files: tuple[FileChange, ...]) -> frozenset[Kind]:
    """Return the kinds of a change: for each part of it `own` or `agents` where it changes no text of a person.

    Paths are as seen from the workspace.
    """
    gone = {file.before for file in files if file.after is None}
    renamed = gone & {file.after for file in files if file.before is None}
    parts: list[ChangePart] = []
    for file in files:
        if file.after is None and file.before in renamed:
            parts.append(ChangePart("move", file.path, None, file.before or b"", b""))
        elif file.before is not None or file.after not in renamed:
            parts += _parts(log, file)
    bytes_before = {file.path: file.before or b"" for file in files}
    found: set[Kind] = set()
    for part in _without_moved(parts):
        if part.kind == "add":
            found.add("add")
            continue
        if part.ref is None:
            author = _author_of_lines(log, actor, part, bytes_before[part.path])
        else:
            author = _author_of_entry(log, actor, part.ref)
        found.add(author or part.kind)
    return frozenset(found)


def _without_moved(parts: list[ChangePart]) -> Iterator[ChangePart]:
    """Yield the parts; a text that is removed in one place and added in another byte for byte is moved."""
    come = Counter(part.after.strip() for part in parts if part.kind == "add")
    for part in parts:
        text = part.before.strip()
        if part.kind == "remove" and text and come[text] > 0:
            come[text] -= 1
            yield part._replace(kind="move")
        elif part.kind == "rewrite" and any(_is_next(part, set(_lines(copy))) for copy in come):
            yield part._replace(kind="status")
        else:
            yield part


def _is_next(part: ChangePart, copy: set[bytes]) -> bool:
    """Return whether an entry that recurs only got its next date, because a copy of it is completed now."""
    old = _lines(part.before)
    gone = [line for line in set(old) - set(_lines(part.after)) if _name(line) not in _STATUS]
    finished = any(_name(line) == "completed" for line in copy)
    return finished and old[0] in copy and bool(gone) and all(_name(line) == "due" for line in gone)


# -- what a change does ---------------------------------------------------------------------------------------------


def _parts(log: SharedLog, file: FileChange) -> Iterator[ChangePart]:
    path = file.path
    before, after = (None if data is None else log.authored(path, data) for data in (file.before, file.after))
    if before == after:
        return
    regions = log.history.touched_by(file._replace(before=before, after=after))
    for region in regions:
        if region.kind == "lines":
            yield from _line_parts(log, path, region)
        elif region.kind in ("body", "top"):
            yield from _text(path, None, region.before, region.after)
        elif region.kind == "bytes":
            yield from _text(path, None, before or b"", after or b"")
            return
        elif region.kind == "sections":
            # A heading that goes with all the text below it is not a text of its own; one that others replace is.
            new = parse(region.after).sections
            old = [section for section in parse(region.before).sections if new or section.lead.strip()]
            texts = (b"".join(section.heading + section.lead for section in side) for side in (old, new))
            yield from _text(path, None, *texts)
    for unit in units_of(regions):
        ref = None if unit.before is None else log.ref(path, unit.section, unit.before)
        old_text, new_text = (b"" if entry is None else bare(entry) for entry in (unit.before, unit.after))
        yield from _text(path, ref, old_text, new_text, moved=unit.section != unit.new_section)


def _line_parts(log: SharedLog, path: str, region: Region) -> Iterator[ChangePart]:
    """Yield the lines that went and came; one whose ref came too was rewritten."""
    come = lines_of(region.after)
    refs = {log.line(path, line)[0] for line in come} - {None}
    for line in lines_of(region.before):
        if line.rstrip(b"\r\n") not in {one.rstrip(b"\r\n") for one in come}:
            ref = log.line(path, line)[0]
            yield ChangePart("rewrite" if ref in refs else "remove", path, ref, line, b"")
    for line in come:
        yield ChangePart("add", path, None, b"", line)


def _text(path: str, ref: str | None, old: bytes, new: bytes, *, moved: bool = False) -> Iterator[ChangePart]:
    """Yield what became of a text: only moved, only longer, only its status, removed or rewritten; nothing where it
    says the same.
    """
    before, after = Counter(_lines(old)), Counter(_lines(new))
    gone, come = before - after, after - before
    # Lines that differ in nothing but check marks and status fields are no new text.
    left = Counter(_BOX.sub(b"[]", line) for line in gone if _name(line) not in _STATUS)
    left -= Counter(_BOX.sub(b"[]", line) for line in come)
    kind: Kind
    if not gone and not come:
        if not moved:
            return
        kind = "move"
    elif not gone:
        kind = "status" if before and (moved or all(_name(line) in _STATUS for line in come)) else "add"
    elif left or any(_name(line) == "outcome" for line in gone):
        kind = "rewrite" if come else "remove"
    else:
        kind = "status"
    yield ChangePart(kind, path, ref, old, new)


def _lines(data: bytes) -> list[bytes]:
    """Return what the lines of a text say, without blank ones and the time of the last change.

    That is without brackets and commas at the end of a line of JSON, and for a row of a table without what aligns its
    columns.
    """
    return [_plain(line) for line in data.splitlines() if line.strip() and not _UPDATED.match(line)]


def _plain(line: bytes) -> bytes:
    line = line.strip()
    if not line.startswith(b"|"):
        return line.rstrip(b" \t,[]{}") if line[:1] in _JSON else line
    return b"|".join(_RULE.sub(b"-", cell.strip()) for cell in line.split(b"|"))


def _name(line: bytes) -> str:
    """Return the name of the field that a line holds, as `_STATUS` has it; nothing for another line."""
    found = _FIELD.match(line)
    return "" if found is None else found[1].replace(b" ", b"").lower().decode()


# -- whose text it is, by the change log ----------------------------------------------------------------------------


def _author_of_entry(log: SharedLog, actor: str, ref: str) -> Kind | None:
    """Return the author of an entry: an agent only where it added the entry and no one else changed it since."""
    found = log.history.list(entry=ref)
    # The oldest change that is known has to be the one by which the entry came.
    if not any(one.ref == ref or one.old_ref == ref for record in found for one in record.touched) or not any(
        one.kind == "added" for one in found[-1].touched if one.ref is not None
    ):
        return None
    return _author(actor, (record.actor for record in found if record.actor not in OWN - {OUTSIDE}))


def _author_of_lines(log: SharedLog, actor: str, part: ChangePart, data: bytes) -> Kind | None:
    """Return whose lines a part takes away from the bytes of a file: by the change with which each came."""
    at_home = log.owner(part.path) == actor
    old, writers = set(_lines(part.before)), list[str]()
    wanted = old - set(_lines(part.after)) or old
    for record, before, _ in islice(log.history.walk(part.path, data), _MOST_LOOKED_AT):
        left = wanted & set(_lines(log.authored(part.path, before)))
        if left != wanted:
            writers.append(actor if at_home and record.actor == OUTSIDE else record.actor)
        wanted = left
        if not wanted:
            break
    if wanted or not writers:
        writers.append(actor if at_home else OUTSIDE)
    return _author(actor, writers)


def _author(actor: str, writers: Iterable[str]) -> Kind | None:
    """Return whose text it is that several wrote: `own`, `agents`, or None for a person's."""
    found = set(writers)
    if not found or not all(map(is_agent, found - {actor})):
        return None
    return "own" if found == {actor} else "agents"
