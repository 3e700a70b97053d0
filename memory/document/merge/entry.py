"""Three-way merge of one entry, of a section's heading and text, and of the front matter.

A body is merged by fields, by the key column of table rows, and by lines of free text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from memory.document.front_matter import FrontMatter
from memory.document.lines import decode, encode, heading_end, scan, split_lines
from memory.document.nodes import Entry, Section, keep_apart

from .conflicts import Conflict, Decide, theirs_of
from .pieces import Key, LinePiece, What, join_pieces, same_text, split_body, split_tail
from .sequences import Three, merge_lines, merge_order

LATER = frozenset({"updated", "lastCheck", "lastUpdate"})
"""Fields of which the later one counts where both sides changed them."""
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_SIZES = {"field": 2, "table": 2, "row": 3, "front": 2}
_Name = Key | int


Merged = tuple[str, tuple[Conflict, ...]]
"""A merged text, and what both sides changed in it."""


def merge_bodies(base: str, ours: str, theirs: str, newline: str = "\n", settle: Decide = theirs_of) -> Merged:
    """Merge three versions of a body; the blank lines at its end are merged apart from the rest."""
    sides = Three(base, ours, theirs)
    if sides.agreed is not None:
        return sides.agreed, ()
    parts = sides.map(split_tail)
    cores = parts.map(lambda part: part[0])
    # The line end of an empty body says nothing about that of a full one.
    tails = parts.map(lambda part: part[1])
    tail = tails.ours if tails.theirs == tails.base or not cores.theirs else tails.theirs
    if cores.agreed is not None:
        return cores.agreed + tail, ()
    merged = merge_pieces(cores.map(split_body), newline, settle)
    if merged is None:
        whole = Conflict("text", "", *sides)
        return settle(whole) or "", (whole,)
    text, clashes = merged
    return split_tail(text)[0] + tail, clashes


def merge_pieces(sides: Three[list[LinePiece]], newline: str, settle: Decide, *, check: bool = True) -> Merged | None:
    """Merge bodies in pieces; None where, unless `check` is off, the result would not read as what was put together."""
    free = sides.map(lambda side: [piece for piece in side if piece.key is None])
    lines = merge_lines(*free.map(lambda side: [piece.value for piece in side]))
    named = Three(
        _named(sides.base, range(len(free.base))), _named(sides.ours, lines.ours), _named(sides.theirs, lines.theirs)
    )
    kept: dict[_Name, LinePiece] = {}
    clashes: list[Conflict] = []

    def settled(clash: Conflict) -> str | None:
        nonlocal check
        clashes.append(clash)
        source = settle(clash)
        check = check and source == clash.theirs
        return source

    for name in lines.keep:
        found = _found(named, name)
        kept[name] = next(piece for piece in (_pick(*found), *reversed(found)) if piece is not None)
    for overlap in lines.overlaps:
        clash = Conflict(
            "text",
            "",
            _text(free.base, overlap.base),
            _text(free.ours, overlap.ours),
            _text(free.theirs, overlap.theirs),
        )
        source = settled(clash)
        if source != clash.theirs:
            places = [*(lines.theirs[at] for at in overlap.theirs), *(lines.ours[at] for at in overlap.ours)]
            for name in places:
                kept.pop(name, None)
            if source:
                kept[places[0]] = LinePiece(source, source)
    for key in dict.fromkeys([piece.key for piece in (*sides.theirs, *sides.ours) if piece.key is not None]):
        found = _found(named, key)
        piece = _merged(key, found, named)
        if piece is _CLASH:
            what: What = "field" if key[0] == "field" else "front" if key[0] == "front" else "row"
            clash = Conflict(what, key[_SIZES[key[0]] - 1], *found.map(lambda one: one.raw if one else None))
            source = settled(clash)
            piece = found.theirs if source == clash.theirs else LinePiece(source, source, key) if source else None
        if piece is not None:
            kept[key] = piece
    names = named.map(list)
    # What theirs added at one place goes first, unless that would make a line a part of another one.
    for order in (merge_order(*names, kept), merge_order(names.base, names.theirs, names.ours, kept)):
        pieces = [kept[name] for name in order]
        text = join_pieces([piece.raw for piece in pieces], newline)
        if not check or _readings(pieces) == _readings(split_body(text)):
            return text, tuple(clashes)
    return None


def _readings(pieces: Sequence[LinePiece]) -> list[tuple[Key, str]]:
    """Return the fields and rows in order, without the numbers that tell equal keys apart."""
    return [(piece.key[: _SIZES[piece.key[0]]], piece.value) for piece in pieces if piece.key is not None]


def _named(pieces: Sequence[LinePiece], numbers: Sequence[int]) -> dict[_Name, LinePiece]:
    """Return the pieces by their names, in order: keys, and the numbers of free text."""
    upcoming = iter(numbers)
    return {(next(upcoming) if piece.key is None else piece.key): piece for piece in pieces}


_CLASH = LinePiece("", "", ("clash", ""))


def _pick(base: LinePiece | None, ours: LinePiece | None, theirs: LinePiece | None) -> LinePiece | None:
    """Choose between the sources of one line: the side that changed what it says, else the side that changed a byte."""
    if base is None or ours is None or theirs is None:
        return theirs if theirs is not None else ours
    for part in (attrgetter("value"), _bare, attrgetter("raw")):
        if part(theirs) != part(base):
            return theirs
        if part(ours) != part(base):
            return ours
    return theirs


def _bare(piece: LinePiece) -> str:
    return piece.raw.rstrip("\r\n")


def _found(named: Three[dict[_Name, LinePiece]], name: _Name) -> Three[LinePiece | None]:
    return named.map(lambda side: side.get(name))


def _text(pieces: Sequence[LinePiece], span: range) -> str | None:
    return "".join(pieces[at].raw for at in span) or None


def _merged(key: Key, found: Three[LinePiece | None], named: Three[dict[_Name, LinePiece]]) -> LinePiece | None:
    """Return what becomes of a field or row: a piece, None where it goes, `_CLASH` where both changed it."""
    base, ours, theirs = found
    values = found.map(lambda piece: None if piece is None else piece.value)
    if values.ours == values.theirs:
        return _pick(base, ours, theirs)
    if values.ours == values.base:
        return theirs
    if values.theirs == values.base:
        return ours
    if key[0] in ("field", "front") and ours is not None and theirs is not None:
        timed = "lastCheck" if key[1] == "lastStatus" else key[1]
        if timed in LATER:
            name = (key[0], timed, *key[2:])
            mine, other = [_moment(side[name].value) if name in side else None for side in named[1:]]
            if mine is not None and other is not None and mine != other:
                return ours if mine > other else theirs
    return _CLASH


def _moment(value: str) -> tuple[float, str] | None:
    """Return a sortable time; one without zone counts as UTC, for a field has only times of one kind."""
    found = _MOMENT.fullmatch(value.strip())
    if found is None:
        return None
    date, time, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time or '00:00'}{zone or '+00:00'}")
    except ValueError:
        return None
    return moment.timestamp(), value


# -- entries, sections, front matter --------------------------------------------------------------------------------

EntryMerge = tuple[Entry, tuple[Conflict, ...]]
"""A merged entry, and what both sides changed in it."""


def merge_entry(base: Entry, ours: Entry, theirs: Entry, newline: str = "\n", settle: Decide = theirs_of) -> EntryMerge:
    """Merge three versions of one entry by heading, fields, table rows and lines.

    What would not read as one entry any more, or ends inside a fence, is a clash as a whole. Raises UsageError
    `document.structure` or `document.unclosed` where what `settle` returns does not stay in one entry.
    """
    if ours.raw in (base.raw, theirs.raw):
        return theirs, ()
    if theirs.raw == base.raw:
        return ours, ()
    sides = Three(base, ours, theirs)
    sources = sides.map(lambda entry: entry.text)
    if base.open_ended or ours.open_ended or theirs.open_ended:
        # Blank lines behind it are inside the fence, and it is unknown what else is.
        bare = sources.map(str.rstrip)
        if len(set(bare)) == len(bare):
            return _whole(sides, settle)
        return ours if bare.theirs == bare.base else theirs, ()
    head, clashes = merge_heading(sides.map(lambda entry: decode(entry.raw[: heading_end(entry.raw)])), settle)
    body, more = merge_bodies(*sides.map(lambda entry: entry.body), newline, settle)
    clashes += more
    raw = b"".join(keep_apart(encode(head), encode(body), newline))
    outline = scan(raw)
    if outline.starts == [0] and outline.levels == [3] and not outline.open_end:
        return theirs if raw == theirs.raw else Entry(raw), clashes
    if any(settle(clash) != clash.theirs for clash in clashes):
        return Entry.from_text(decode(raw)), clashes
    return _whole(sides, settle)


def _whole(sides: Three[Entry], settle: Decide) -> EntryMerge:
    """Return an entry whose parts cannot be told apart, as one clash."""
    clash = Conflict("entry", "", *sides.map(lambda entry: entry.text))
    source = settle(clash)
    same = [entry for entry in sides[::-1] if entry.text == source]
    return same[0] if same else Entry.from_text(source or ""), (clash,)


def merge_heading(heads: Three[str], settle: Decide) -> tuple[str, tuple[Conflict, ...]]:
    """Merge three heading lines with their line ends; nothing is merged inside the line."""
    bare = heads.map(str.rstrip)
    if bare.ours in (bare.theirs, bare.base):
        return heads.ours if heads.theirs == heads.base else heads.theirs, ()
    if bare.theirs == bare.base:
        return heads.ours, ()
    clash = Conflict("title", "", bare.base or None, bare.ours, bare.theirs)
    return (settle(clash) or bare.theirs) + heads.theirs[len(bare.theirs) :], (clash,)


def merge_section_text(
    base: Section | None, ours: Section, theirs: Section, newline: str, settle: Decide
) -> tuple[tuple[bytes, bytes], tuple[Conflict, ...]]:
    """Merge heading and text of a section, without its entries; return both and the conflicts."""
    sides: Three[Section | None] = Three(base, ours, theirs)
    head, clashes = merge_heading(sides.map(lambda part: decode(part.heading) if part else ""), settle)
    heading = encode(head)
    leads = sides.map(lambda part: part.lead if part else b"")
    if leads.agreed is not None:
        return (heading, leads.agreed), clashes
    texts = leads.map(decode)
    text, more = merge_bodies(*texts, newline, settle)
    lead = encode(text)
    outline = scan(lead)
    if outline.starts or (outline.open_end and not scan(leads.theirs).open_end):
        whole = Conflict("text", "", *texts)
        return (heading, encode(settle(whole) or "")), (*clashes, whole)
    return (heading, lead), (*clashes, *more)


def merge_front(base: str, ours: str, theirs: str, newline: str, settle: Decide) -> Merged:
    """Merge three front matters by key, `updated` by time; one that cannot be read is taken as a whole."""
    if (agreed := Three(base, ours, theirs).agreed) is not None:
        return agreed, ()
    whole = Conflict("front", "", base or None, ours or None, theirs or None)
    sides = Three(base, ours, theirs).map(_front_pieces)
    if not ours or not theirs or None in sides:
        return settle(whole) or "", (whole,)
    merged = merge_pieces(sides.map(lambda side: side or []), newline, settle, check=False)
    assert merged is not None
    read, wanted = FrontMatter.read(merged[0]), FrontMatter.read(theirs)
    lines = split_lines(merged[0])
    closed = len(lines) > 1 and lines[0][0].rstrip() == "---" and lines[-1][0].rstrip() in ("---", "...")
    inner = [line.rstrip() for line, _ in lines[1:-1]]
    if read.opaque or len(read.problems) > len(wanted.problems) or not closed or "---" in inner or "..." in inner:
        return settle(whole) or "", (whole,)
    return merged


def _front_pieces(front: str) -> list[LinePiece] | None:
    """Return the front matter in pieces: keys with their lines, other lines as text; None if it is opaque."""
    meta = FrontMatter.read(front)
    if meta.opaque or meta.problems:
        return None
    lines = [line + end for line, end in split_lines(front)]
    pieces: list[LinePiece] = []
    at = 0
    for item in sorted(meta.items, key=lambda item: item.line):
        if item.line < at:
            return None
        pieces += [LinePiece(line, same_text(line)) for line in lines[at : item.line]]
        at = item.end_line + 1
        key: Key = ("front", item.key)
        raw = "".join(lines[item.line : at])
        value = item.value if isinstance(item.value, str) and not item.style else same_text(raw)
        pieces.append(LinePiece(raw, value, key))
    pieces += [LinePiece(line, same_text(line)) for line in lines[at:]]
    return pieces
