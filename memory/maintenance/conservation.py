"""The independent check of a run: from the bytes alone, that no entry is lost, added or changed.

It uses neither documents nor the plan. Each file is cut into a sequence of entries and other non-blank lines. A file
that loses entries may only have gaps in that sequence, an archive only additions. The removed entries must equal the
added ones, byte for byte and in number. Blank lines and the line end after an entry do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory.document.lines import Outline, scan
from memory.document.model import BOM, front_end
from memory.errors import MemdeckError

from .report import RuleReport
from .same_sections import KnownSections, TextWithOutline, without_blank_lines

_LINE_ENDS = re.compile(rb"[\r\n]+")
_UPDATED = re.compile(rb"updated[ \t]*:")
_DAY = re.compile(rb"##?[ \t]\W*((\d{4}-\d{2})-\d{2})(?![\w-])")
_COMPLETED = re.compile(rb"##[ \t]\W*completed(?: plans)?\W*(?:\([^()]*\)\W*)?", re.IGNORECASE)
_TYPES = {
    "tasks": b"type: task-archive",
    "journal": b"type: journal-archive",
    "orchestration": b"type: orchestration-archive",
}
_LINE = b"\n"
_NO_OUTLINES: Mapping[str, Outline] = {}
_STAMP = _LINE + b"updated:"


class CutFile(NamedTuple):
    """A file cut into pieces, in order: each entry, and each other line that is not blank.

    An entry is its bytes without the blank lines at its end; a line begins with a line feed here, as no entry does.
    `headings` holds the heading line of the section of each piece, empty before the first; `entries` counts them.
    """

    pieces: list[bytes]
    headings: list[bytes]
    entries: int


class _WholeSection(NamedTuple):
    """An unchanged section: the archive that it moves to (None: it stays), and its number of entries."""

    file: str | None
    entries: int


_NOTHING = CutFile([], [], 0)


def verify(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    rules: Sequence[RuleReport],
    outlines: Mapping[str, Outline] = _NO_OUTLINES,
) -> None:
    """Raise MemdeckError `maintenance.unbalanced` unless everything is accounted for; see `imbalances`."""
    found = imbalances(before, after, rules, outlines)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise MemdeckError(
            "maintenance.unbalanced",
            f"the count is off: {found[0]}{more}",
            "nothing was written; please report this with the file it names",
            problems=found[:100],
        )


def imbalances(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    rules: Sequence[RuleReport],
    outlines: Mapping[str, Outline] = _NO_OUTLINES,
) -> list[str]:
    """Return every difference as a sentence; empty when everything is accounted for.

    `before` and `after` map file names, relative to the memory folder, to bytes: all files that are to be written,
    `before` without those that do not exist yet. `rules` are in the order in which they apply. `outlines` has the known
    headings of the bytes before; those of other files, and of all bytes after, are scanned.
    """
    found: list[str] = []
    found += [f"{name} would vanish" for name in before if name not in after]
    for kind in ("tasks", "journal", "orchestration"):
        found += _balance(kind, before, after, outlines, [rule for rule in rules if rule.file == f"{kind}.md"])
    known = re.compile(r"(?:archive/)?(?:tasks|journal|orchestration)(?:-\d{4}-\d{2})?\.md")
    found += [f"{name} is none of maintenance's files" for name in after if not known.fullmatch(name)]
    return found


def _balance(
    kind: str,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    outlines: Mapping[str, Outline],
    rules: Sequence[RuleReport],
) -> list[str]:
    """Compare one file and its archives."""
    source = f"{kind}.md"
    found: list[str] = []
    by_heading = kind == "journal"
    gone: dict[bytes, list[bytes]] = {}
    come: dict[bytes, list[bytes]] = {}
    stood: dict[bytes, list[bytes]] = {}
    headings: set[bytes] = set()
    counts: list[str] = []
    archives = [name for name in after if name.startswith(f"archive/{kind}-")]
    names = [*archives, *([source] if source in after else [])]
    known = KnownSections(
        {
            name: TextWithOutline.of(before[name], outlines.get(name) or scan(before[name], _front(before[name])))
            for name in names
            if name in before
        }
    )
    texts = {name: known.read(after[name], _front(after[name])) for name in names}
    whole = _whole(kind, known, texts)
    moved_whole = 0
    for name in archives:
        wrong = [heading for heading, one in whole.items() if one.file == name and not _fits(kind, name, heading)]
        found += [f"{_shown(_LINE + heading)} would stand in the wrong place of {name}" for heading in wrong]
        moved_whole += sum(one.entries for one in whole.values() if one.file == name)
        row = _cut(texts[name], whole)
        headings.update(row.headings)
        added, missing = _added(_cut(known.files[name], whole) if name in before else _NOTHING, row)
        found += [f"{_shown(piece)} would be lost from {name}" for piece in missing]
        found += _misplaced(name, kind, row, added, new_file=not before.get(name, b"").strip())
        _collect(come, row, added, by_heading=by_heading)
        if len(added) < len(row.pieces):
            entered = set(added)
            _collect(stood, row, (at for at in range(len(row.pieces)) if at not in entered), by_heading=by_heading)
    if source in after:
        old = _cut(known.files[source], whole) if source in before else _NOTHING
        new = _cut(texts[source], whole)
        removed, extra = _added(new, old)
        found += [f"{_shown(piece)} would appear in {source}" for piece in extra]
        for index in removed:
            piece = old.pieces[index]
            if piece[:1] == _LINE and not (kind == "journal" and _DAY.match(piece, 1) and piece[1:] in headings):
                found.append(f"{_shown(piece)} would be lost from {source}")
        _collect(gone, old, removed, by_heading=by_heading)
        counts = _counts(rules, old.entries, new.entries)
    returned, different = _difference(gone, come, stood)
    found += different
    if returned != (told := sum(rule.returned for rule in rules)):
        counts.append(f"{returned} entries that left {source} stand in its archives already instead of {told}")
    got = sum(map(len, come.values())) + moved_whole
    moved = sum(rule.archived + rule.cleared for rule in rules)
    if moved != got:
        counts.append(f"the archives of {source} would get {got} entries instead of {moved}")
    return found + counts


def _whole(kind: str, known: KnownSections, texts: Mapping[str, TextWithOutline]) -> dict[bytes, _WholeSection]:
    """Return the sections, by heading, that occur once in the files before and once after, with the same bytes.

    A day of the journal may have moved to an archive. All others are in the same file as before. Of the archives only
    days are included, because entries of tasks and plans in archives are needed for the comparison.
    """
    source = f"{kind}.md"
    count = Counter(span.heading for text in texts.values() for span in text.spans)
    found: dict[bytes, _WholeSection] = {}
    for name, text in texts.items():
        for heading in text.same:
            before, span = known.spans[heading]
            if count[heading] != 1:
                continue
            if before == name and (kind == "journal" or name == source):
                found[heading] = _WholeSection(None, span.behind - span.first - 1)
            elif kind == "journal" and before == source and known.has_entries_only(heading):
                found[heading] = _WholeSection(name, span.behind - span.first - 1)
    return found


def _collect(into: dict[bytes, list[bytes]], row: CutFile, indexes: Iterable[int], *, by_heading: bool) -> None:
    """Add the pieces that are entries, by the heading of their section where that has to stay the same."""
    pieces, headings = row.pieces, row.headings
    heading: bytes | None = None
    found: list[bytes] = []
    for index in indexes:
        piece = pieces[index]
        if piece[:1] == _LINE:
            continue
        own = headings[index] if by_heading else b""
        if own is not heading:
            heading = own
            found = into.setdefault(own, [])
        found.append(piece)


def _counts(rules: Sequence[RuleReport], before: int, after: int) -> list[str]:
    """Check each rule's sum, that it starts with the count the last one left, and both ends against the bytes."""
    found = []
    left = before
    for rule in rules:
        parts = (rule.kept, rule.archived, rule.cleared, rule.returned)
        if rule.before != sum(parts):
            found.append(f"{rule.rule}: {rule.before} is not {' + '.join(map(str, parts))}")
        if rule.before != left:
            found.append(f"{rule.rule} counts {rule.before} entries where {left} are")
        left = rule.kept
    if left != after:
        found.append(f"{rules[-1].file if rules else 'a file'} would hold {after} entries instead of {left}")
    return found


def _difference(
    gone: Mapping[bytes, list[bytes]], come: Mapping[bytes, list[bytes]], stood: Mapping[bytes, list[bytes]]
) -> tuple[int, list[str]]:
    """Compare removed with added entries, heading by heading, and in number.

    A removed entry that was not added must be in the archive already, as often. Return the number of these, and the
    differences.
    """
    returned = 0
    found = []
    for heading in {**gone, **come}:
        left, entered = gone.get(heading, []), come.get(heading, [])
        if left == entered:
            continue
        out, into = Counter(left), Counter(entered)
        if dict.__eq__(out, into):  # A counter compares itself step by step.
            continue
        lost, more = out - into, into - out
        there = lost & Counter(stood.get(heading, ()))
        returned += there.total()
        lost -= there
        found += [f"{_shown(text)} would be lost{_times(count)}" for text, count in lost.items()]
        found += [f"{_shown(text)} would be doubled or changed{_times(count)}" for text, count in more.items()]
    return returned, found


def _times(count: int) -> str:
    return f" {count} times" if count > 1 else ""


def _misplaced(name: str, kind: str, row: CutFile, added: Sequence[int], *, new_file: bool) -> list[str]:
    """Check that an archive only gets entries in their place, headings of their sections, and a header."""
    wrong = {heading for heading in {row.headings[index] for index in added} if not _fits(kind, name, heading)}
    found = []
    for index in added:
        piece, heading = row.pieces[index], row.headings[index]
        fits = heading not in wrong
        if piece[:1] == _LINE and piece[1:] != heading:
            fits = new_file and (piece == _STAMP or piece[1:] in (b"---", _TYPES[kind]))
        if not fits:
            found.append(f"{_shown(piece)} would stand in the wrong place of {name}")
    return found


def _fits(kind: str, name: str, heading: bytes) -> bool:
    """Return whether the section of a heading may get entries in an archive."""
    if kind == "journal":
        day = _DAY.match(heading)
        return day is not None and day[2] == name[-10:-3].encode()
    return _COMPLETED.fullmatch(heading) is not None


def cut(data: bytes) -> CutFile:
    """Return the pieces of a file; the `updated:` line of the front matter is the same for any value."""
    return _cut(TextWithOutline.of(data, scan(data, _front(data))), {})


def _cut(file: TextWithOutline, whole: Mapping[bytes, _WholeSection]) -> CutFile:
    """Return the pieces of a file; of whole sections that stay only the heading, of those that move nothing.

    Their entries are counted too.
    """
    data, starts = file.data, file.outline.starts
    front = _front(data)
    pieces = [_STAMP if _UPDATED.match(line) else _LINE + line for line in _lines(data[:front])]
    pieces += [_LINE + line for line in _lines(data[front : starts[0] if starts else len(data)])]
    sections = file.spans
    bounds = [*starts, len(data)]
    pieces += _entries(data, bounds, 0, sections[0].first if sections else len(starts))
    headings = [b""] * len(pieces)
    for heading, begin, _, first, behind in sections:
        one = whole.get(heading)
        if one is not None:
            if one.file is None:
                pieces.append(_LINE + heading)
                headings.append(heading)
            continue
        lines = _lines(data[begin : bounds[first + 1]])[1:]
        pieces.append(_LINE + heading)
        pieces += [_LINE + line for line in lines]
        pieces += _entries(data, bounds, first + 1, behind)
        headings += [heading] * (1 + len(lines) + behind - first - 1)
    return CutFile(pieces, headings, len(starts) - len(sections))


def _entries(data: bytes, bounds: Sequence[int], first: int, behind: int) -> list[bytes]:
    """Return the entries in a range of headings without the blank lines at their ends."""
    texts = [data[bounds[index] : bounds[index + 1]].rstrip(b"\r\n") for index in range(first, behind)]
    return [without_blank_lines(text) if text.endswith((b" ", b"\t")) else text for text in texts]


def _front(data: bytes) -> int:
    """Return the offset of the body of a file."""
    return front_end(data, len(BOM) if data.startswith(BOM) else 0)


def _lines(text: bytes) -> list[bytes]:
    return [line for line in _LINE_ENDS.split(text) if line.strip(b" \t")]


def _added(fewer: CutFile, more: CutFile) -> tuple[list[int], list[bytes]]:
    """Return the indexes of pieces only in `more`, and the pieces of `fewer` that it lacks in this order and place."""
    added: list[int] = []
    pieces, headings = fewer.pieces, fewer.headings
    at, size = 0, len(pieces)
    for index, other in enumerate(more.pieces):
        if at < size and other == pieces[at] and more.headings[index] == headings[at]:
            at += 1
        else:
            added.append(index)
    return added, pieces[at:]


def _shown(piece: bytes) -> str:
    text = piece.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    return f"{'the line' if piece[:1] == _LINE else 'the entry'} {text[:60]!r}"
