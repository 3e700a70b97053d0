"""Three-way merge of one entry, of a section's heading and text, and of the front matter."""

from __future__ import annotations

from memory.document.front_matter import FrontMatter
from memory.document.lines import decode, encode, heading_end, scan, split_lines
from memory.document.nodes import Entry, Section, keep_apart

from .bodies import Merged, merge_bodies, merge_pieces, pick
from .conflicts import Conflict, Decide, theirs_of
from .pieces import Key, LinePiece, same_text
from .sequences import Three

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
    if leads.ours in (leads.base, leads.theirs) or leads.theirs == leads.base:
        return (heading, leads.ours if leads.theirs == leads.base else leads.theirs), clashes
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
    if ours in (base, theirs) or theirs == base:
        return pick(base, ours, theirs) or "", ()
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
