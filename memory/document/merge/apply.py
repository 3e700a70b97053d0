"""Puts our side of a conflict in the place of theirs: one key for a person who saw both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.document.lines import encode, ends_line, read_fields, set_field
from memory.document.model import Document, parse, updated
from memory.document.nodes import Block, Entry
from memory.errors import ConflictError, UsageError

from .bodies import BodyClash
from .conflicts import Conflict, Spot
from .match import identity
from .pieces import split_body


def apply_mine(document: Document, conflict: Conflict) -> Document:
    """Return the document with our side of the conflict; the rest of it stays, byte for byte.

    Conflicts of one merge can be applied one after the other, in any order. Raises ConflictError
    `document.conflict` where the place is no longer as the conflict says.
    """
    try:
        match conflict.what:
            case "file":
                return updated(document, encode(conflict.ours or ""))
            case "front":
                return _front(document, conflict)
            case "section" | "entry":
                return _entry(document, conflict)
            case _:
                return _part(document, conflict)
    except UsageError as error:
        raise _moved_on(conflict) from error


def apply_to_entry(entry: Entry, clash: BodyClash, text: str | None) -> Entry:
    """Return a merged entry with `text` where it has theirs of a clash; None takes theirs away.

    `text` is what a person reads: a field's value, a title, whole lines, a table row. Raises UsageError
    `document.structure` for a text that would not stay one entry, and ConflictError as `apply_mine`.
    """
    if clash.what == "title":
        return entry.with_title(text or "")
    if clash.what == "entry":
        return Entry.from_text(text or "")
    if clash.what == "field" and text is not None and clash.theirs is not None:
        return entry.set_field(clash.name, text)
    conflict = Conflict(Spot("", entry=entry.title), with_text(clash, text, entry.newline), "")
    return Entry.from_text(entry.with_body(_body(entry, conflict)).text)


def with_text(clash: BodyClash, text: str | None, newline: str) -> BodyClash:
    """Return a clash whose ours is what a person wrote for it, in the form of `apply_to_entry`."""
    raw = text
    if text is not None and clash.what == "field":
        raw = set_field("", clash.name, text, newline)
    elif text is not None and clash.what == "title":
        raw = f"### {text}"
    elif text is not None and not ends_line(encode(text)):
        raw = text + newline
    return replace(clash, ours=raw)


def _front(document: Document, conflict: Conflict) -> Document:
    clash = conflict.clash
    front = document.front
    if clash.name:
        front = _replaced(front, clash.ours, clash.theirs, clash.before, conflict, document.newline)
    elif (clash.theirs or "") != front:
        raise _moved_on(conflict)
    else:
        front = clash.ours or ""
    data = document.dump()
    start = len(document.bom)
    return updated(document, data[:start] + encode(front) + data[start + len(document.front_raw) :])


def _part(document: Document, conflict: Conflict) -> Document:
    """Put our title, field, row or lines into an entry or a section."""
    spot = conflict.spot
    number: int | None = None
    if spot.entry is None:
        index = _section_of(document, conflict, spot.section, spot.section_nth)
    else:
        index, number = _find(document, conflict)
    block = document.block(index, number)
    if conflict.what == "title":
        return document.with_block(index, number, block.with_title(_title(conflict.clash.ours)))
    return document.with_block(index, number, block.with_body(_body(block, conflict)))


def _entry(document: Document, conflict: Conflict) -> Document:
    """Put our whole entry in the place of theirs, in our section where it was moved."""
    clash, spot = conflict.clash, conflict.spot
    mine = None if clash.ours is None else Entry.from_text(clash.ours)
    if clash.theirs is None:
        if mine is None:
            return document
        index = _section_of(document, conflict, spot.section, spot.section_nth)
        return document.insert_entry(index, 0, mine)
    index, number = _find(document, conflict)
    if document.section(index).entries[number].text.rstrip() != clash.theirs.rstrip():
        raise _moved_on(conflict)
    if mine is None:
        return document.remove_entry(index, number)
    if conflict.places is None:
        return document.replace_entry(index, number, mine)
    target = _section_of(document, conflict, conflict.places[1], 0)
    return document.remove_entry(index, number).insert_entry(target, 0, mine)


def _find(document: Document, conflict: Conflict) -> tuple[int, int]:
    spot = conflict.spot
    for names in ([spot.identity], list(spot.aliases)):
        found = _entries_of(document, spot.kind, names)
        if found:
            return found[max(0, len(found) - 1 - spot.nth)]
    raise _moved_on(conflict)


def _section_of(document: Document, conflict: Conflict, title: str, nth: int) -> int:
    """Return the index of the section with that title, the nth of its name; -1 is the part before the first."""
    if not title and not nth:
        return -1
    found = [index for index, section in enumerate(document.sections) if section.title == title]
    if nth >= len(found):
        raise _moved_on(conflict)
    return found[nth]


def _entries_of(document: Document, kind: str, known_as: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Return where the entries of an identity stand, in file order."""
    titles = [names[1 if kind == "journal" else 0] for names in known_as]
    return [
        (index, number)
        for index, section in document.all_sections()
        for number, entry in enumerate(section.entries)
        # Looking at the title first spares reading the fields of every entry.
        if any(title in entry.title for title in titles) and identity(kind, section, entry) in known_as
    ]


def _title(heading: str | None) -> str:
    """Return the title in a heading line."""
    block = parse(encode(heading or ""))
    if block.head.entries:
        return block.head.entries[0].title
    return block.sections[0].title if block.sections else ""


def _body(block: Block, conflict: Conflict) -> str:
    """Return the body of a block with our lines in the place of theirs."""
    clash = conflict.clash
    body, newline = block.body, block.newline
    if conflict.what == "text":
        if clash.name == "" and clash.theirs == body:
            return clash.ours or ""
        return _replaced(body, clash.ours, clash.theirs, clash.before, conflict, newline)
    at = 0
    theirs = (clash.theirs or "").rstrip("\r\n")
    for piece in split_body(body):
        if clash.theirs is not None and piece.key is not None and piece.raw.rstrip("\r\n") == theirs:
            return _put(body, at, at + len(piece.raw), clash.ours, newline)
        at += len(piece.raw)
    if clash.theirs is not None or (conflict.what == "field" and clash.name in read_fields(body)):
        raise _moved_on(conflict)
    return _replaced(body, clash.ours, None, clash.before, conflict, newline)


def _replaced(text: str, mine: str | None, theirs: str | None, before: str, conflict: Conflict, newline: str) -> str:
    """Return a text with our lines instead of theirs, which stand behind `before`."""
    if theirs:
        bare = theirs.rstrip("\r\n")
        behind = _find_lines(text, before.rstrip("\r\n") + newline + bare) if before.strip() else -1
        start = behind + len(before.rstrip("\r\n") + newline) if behind >= 0 else _find_lines(text, bare)
        if start < 0:
            raise _moved_on(conflict)
        stop = start + len(bare)
        stop += len(text[stop:]) - len(text[stop:].removeprefix("\r").removeprefix("\n")) if theirs != bare else 0
        return _put(text, start, stop, mine, newline)
    bare = before.rstrip("\r\n")
    start = _find_lines(text, bare) if bare else 0
    if start < 0:
        raise _moved_on(conflict)
    start += len(bare)
    rest = text[start:]
    start += len(rest) - len(rest.removeprefix("\r").removeprefix("\n")) if bare else 0
    return _put(text, start, start, mine, newline)


def _find_lines(text: str, lines: str) -> int:
    """Return where whole lines stand in a text, -1 if nowhere."""
    at = text.find(lines)
    while at >= 0:
        end = at + len(lines)
        if (at == 0 or text[at - 1] in "\r\n") and (end == len(text) or text[end] in "\r\n"):
            return at
        at = text.find(lines, at + 1)
    return -1


def _put(text: str, start: int, stop: int, mine: str | None, newline: str) -> str:
    """Return a text with `start:stop`, whole lines, replaced; line ends are put between."""
    before, behind = text[:start], text[stop:]
    if not mine:
        return before + behind
    if before and not ends_line(encode(before)):
        before += newline
    if not ends_line(encode(mine)) and (behind[:1] not in ("\r", "\n") or not behind):
        mine += newline if behind or ends_line(encode(text)) else ""
    elif ends_line(encode(mine)) and behind[:1] in ("\r", "\n") and stop and text[stop - 1] not in "\r\n":
        mine = mine.rstrip("\r\n")
    return before + mine + behind


def _moved_on(conflict: Conflict) -> ConflictError:
    what = f" of {conflict.entry[:60]!r}" if conflict.entry else ""
    return ConflictError(
        "document.conflict",
        f"{conflict.field}{what} is no longer what the conflict says",
        "look at the file as it is now",
        conflict=conflict.json(),
    )
