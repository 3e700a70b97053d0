"""The independent check of a run: from the bytes alone, that no entry is lost, added or changed.

It uses neither documents nor the plan. Each file is cut into a sequence of entries and other non-blank lines. A file
that loses entries may only have gaps in that sequence, an archive only additions. The removed entries must equal the
added ones, byte for byte and in number. Blank lines and the line end after an entry do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory.document.lines import scan, without_blank_end
from memory.document.model import BOM, front_end
from memory.errors import MemdeckError

from .report import RuleReport

_LINE_ENDS = re.compile(rb"[\r\n]+")
_UPDATED = re.compile(rb"updated[ \t]*:")
_DAY = re.compile(rb"##?[ \t]\W*((\d{4}-\d{2})-\d{2})(?![\w-])")
_COMPLETED = re.compile(rb"##[ \t]\W*completed(?: plans)?\W*(?:\([^()]*\)\W*)?", re.IGNORECASE)
_TYPES = {
    "tasks": b"type: task-archive",
    "journal": b"type: journal-archive",
    "orchestration": b"type: orchestration-archive",
}
_STAMP = b"updated:"


class Piece(NamedTuple):
    """One entry, without the blank lines at its end, or one other line that is not blank.

    `section` is the heading line of its section, empty before the first; the piece of a heading has it, too.
    """

    section: bytes
    text: bytes
    is_entry: bool


def verify(before: Mapping[str, bytes], after: Mapping[str, bytes], rules: Sequence[RuleReport]) -> None:
    """Raise MemdeckError `maintenance.unbalanced` unless everything is accounted for; see `imbalances`."""
    found = imbalances(before, after, rules)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise MemdeckError(
            "maintenance.unbalanced",
            f"the entries do not add up: {found[0]}{more}",
            "nothing was written; please report this with the file it names",
            problems=found[:100],
        )


def imbalances(before: Mapping[str, bytes], after: Mapping[str, bytes], rules: Sequence[RuleReport]) -> list[str]:
    """Return every difference as a sentence; empty when everything is accounted for.

    `before` and `after` map file names, relative to the memory folder, to bytes: all files that are to be written,
    `before` without those that do not exist yet. `rules` are in the order in which they apply.
    """
    found = [f"{name} would vanish" for name in before if name not in after]
    for kind in _TYPES:
        found += _balance(kind, before, after, [rule for rule in rules if rule.file == f"{kind}.md"])
    known = re.compile(r"(?:archive/)?(?:tasks|journal|orchestration)(?:-\d{4}-\d{2})?\.md")
    return found + [f"{name} is none of maintenance's files" for name in after if not known.fullmatch(name)]


def _balance(
    kind: str, before: Mapping[str, bytes], after: Mapping[str, bytes], rules: Sequence[RuleReport]
) -> list[str]:
    """Compare one file and its archives."""
    source = f"{kind}.md"
    found: list[str] = []
    come: list[Piece] = []
    headings: set[bytes] = set()
    for name in after:
        if name.startswith(f"archive/{kind}-"):
            new = cut(after[name])
            added, missing = _added(cut(before.get(name, b"")), new)
            found += [f"{_shown(piece)} would be lost from {name}" for piece in missing]
            is_new = not before.get(name, b"").strip()
            found += [
                f"{_shown(piece)} would be in the wrong place of {name}"
                for piece in added
                if not _fits(kind, name, piece, is_new=is_new)
            ]
            come += added
            headings.update(piece.section for piece in new)
    gone: list[Piece] = []
    counts: list[str] = []
    if source in after:
        old, new = cut(before.get(source, b"")), cut(after[source])
        gone, extra = _added(new, old)
        found += [f"{_shown(piece)} would appear in {source}" for piece in extra]
        # The heading of a day may leave the journal with its entries.
        found += [
            f"{_shown(piece)} would be lost from {source}"
            for piece in gone
            if not piece.is_entry and not (kind == "journal" and _DAY.match(piece.text) and piece.text in headings)
        ]
        counts = _counts(rules, *(sum(piece.is_entry for piece in pieces) for pieces in (old, new)))
    left, entered = (
        Counter(one if kind == "journal" else one._replace(section=b"") for one in pieces if one.is_entry)
        for pieces in (gone, come)
    )
    found += [f"{_shown(piece)} would be lost{_times(count)}" for piece, count in (left - entered).items()]
    found += [
        f"{_shown(piece)} would be doubled or changed{_times(count)}" for piece, count in (entered - left).items()
    ]
    moved = sum(rule.archived + rule.cleared for rule in rules)
    if moved != entered.total():
        counts.append(f"the archives of {source} would get {entered.total()} entries instead of {moved}")
    return found + counts


def _counts(rules: Sequence[RuleReport], before: int, after: int) -> list[str]:
    """Check each rule's sum, that it starts with the count the last one left, and both ends against the bytes."""
    found = []
    left = before
    for rule in rules:
        parts = (rule.kept, rule.archived, rule.cleared)
        if rule.before != sum(parts):
            found.append(f"{rule.rule}: {rule.before} is not {' + '.join(map(str, parts))}")
        if rule.before != left:
            found.append(f"{rule.rule} counts {rule.before} entries where {left} are")
        left = rule.kept
    if left != after:
        found.append(f"{rules[-1].file if rules else 'a file'} would hold {after} entries instead of {left}")
    return found


def _times(count: int) -> str:
    return f" {count} times" if count > 1 else ""


def _fits(kind: str, name: str, piece: Piece, *, is_new: bool) -> bool:
    """Return whether an archive may get a piece: an entry in its place, its section's heading, a new file's header."""
    if is_new and not piece.section and piece.text in (_STAMP, b"---", _TYPES[kind]):
        return True
    if not piece.is_entry and piece.text != piece.section:
        return False
    if kind == "journal":
        day = _DAY.match(piece.section)
        return day is not None and day[2] == name[-10:-3].encode()
    return _COMPLETED.fullmatch(piece.section) is not None


def cut(data: bytes) -> list[Piece]:
    """Return the pieces of a file; the `updated:` line of the front matter is the same for any value."""
    front = front_end(data, len(BOM) if data.startswith(BOM) else 0)
    outline = scan(data, front)
    bounds = [*outline.starts, len(data)]
    pieces = [Piece(b"", _STAMP if _UPDATED.match(line) else line, False) for line in _lines(data[:front])]
    pieces += [Piece(b"", line, False) for line in _lines(data[front : bounds[0]])]
    section = b""
    for start, end, level in zip(bounds, bounds[1:], outline.levels, strict=False):
        text = data[start:end]
        if level < 3:
            heading, *lines = _lines(text)
            section = heading
            pieces += [Piece(section, line, False) for line in (heading, *lines)]
        else:
            text = text.rstrip(b"\r\n")
            if text.endswith((b" ", b"\t")):
                text = without_blank_end(text).rstrip(b"\r\n")
            pieces.append(Piece(section, text, True))
    return pieces


def _lines(text: bytes) -> list[bytes]:
    return [line for line in _LINE_ENDS.split(text) if line.strip(b" \t")]


def _added(fewer: Sequence[Piece], more: Sequence[Piece]) -> tuple[list[Piece], Sequence[Piece]]:
    """Return the pieces only in `more`, and those of `fewer` that it lacks in this order."""
    added: list[Piece] = []
    at = 0
    for piece in more:
        if at < len(fewer) and piece == fewer[at]:
            at += 1
        else:
            added.append(piece)
    return added, fewer[at:]


def _shown(piece: Piece) -> str:
    text = piece.text.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    return f"{'the entry' if piece.is_entry else 'the line'} {text[:60]!r}"
