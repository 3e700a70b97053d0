"""Merging of memory files by entries and fields, for edits and for git; and the error with the conflicts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory.document import Document, Entry, parse
from memory.document.compare import differences, lines_of
from memory.document.merge import Conflict, MergeResult, kind_of, merge, ours_of, reading, source
from memory.document.merge.entry import merge_entry
from memory.errors import ConflictError, UsageError
from memory.files.journal.model import identity_of, read_date, split_heading
from memory.files.refs import identity_hex

_SHOWN = 3
_HELP = "look at both versions and make the change again"


class MergeConflict(ConflictError):
    """Both sides changed the same part; `details["conflicts"]` lists it for programs, nothing was written.

    For a side-by-side choice, `merged` is the merge itself, whose document keeps theirs, and `current` the document now
    in the file.
    """

    def __init__(self, name: str, merged: MergeResult, current: Document) -> None:
        """Build the message and details from the conflicts in the file `name`."""
        conflicts = merged.conflicts
        what = [f"{one.field} of {one.entry[:60]!r}" if one.entry else one.field for one in conflicts]
        shown = ", ".join(what[:_SHOWN]) + (f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else "")
        words = f"another writer changed {shown} in {name} as well"
        fields, told = [one.field for one in conflicts], [{**one.json(), "ref": _ref(one)} for one in conflicts]
        super().__init__("document.conflict", words, _HELP, file=name, fields=fields, conflicts=told)
        self.merged = merged
        self.current = current


def _ref(conflict: Conflict) -> str | None:
    """Return the ref of a task or journal entry, in its short form."""
    if conflict.entry is None or conflict.kind not in ("tasks", "journal"):
        return None
    if conflict.kind == "journal":
        return f"journal#{identity_of(read_date(conflict.section), split_heading(conflict.entry))}"

    return f"tasks#{identity_hex('tasks', *conflict.identity)}"


def merge_file(name: str, base: Document, ours: Document, current: Document) -> MergeResult:
    """Merge an edit of the file `name` (relative to the memory folder), made from `base`, into its current version.

    Raises MergeConflict (`document.conflict`) where both sides changed the same part.
    """
    merged = merge(base, ours, current, kind_of(name))
    if merged.conflicts:
        raise MergeConflict(name, merged, current)
    return merged


def merge_changed_entry(base: Entry, ours: Entry, theirs: Entry, title: str) -> Entry:
    """Merge two versions of one entry that come from `base`; raises ConflictError `document.conflict` as edits do."""
    merged, conflicts = merge_entry(base, ours, theirs, theirs.newline)
    if conflicts:
        raise edit_conflict(title, conflicts)
    return merged


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two versions of an entry, as shown to the user; None where a side has nothing."""

    conflict: Conflict
    base: str | None
    ours: str | None
    theirs: str | None

    @property
    def name(self) -> str:
        """The field's key, the row's key cell, else `title`, `text`, `entry`."""
        return self.conflict.field


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """A merge of one entry that waits for the user: `settled` takes one answer for each of the `differences`."""

    base: Entry
    ours: Entry
    theirs: Entry
    differences: tuple[Difference, ...]

    def settled(self, answers: Sequence[str | None]) -> Entry:
        """Return the merged entry with the answers; UsageError where one would not stay in its entry."""
        chosen = {
            one.conflict: one.conflict.theirs if answer == one.theirs else source(one.conflict, answer)
            for one, answer in zip(self.differences, answers, strict=True)
        }
        return merge_entry(self.base, self.ours, self.theirs, self.theirs.newline, chosen.__getitem__)[0]


def open_entry(base: Entry, ours: Entry, theirs: Entry) -> OpenEntry:
    """Merge two versions of an entry as far as possible; what both changed becomes a difference."""
    _, conflicts = merge_entry(base, ours, theirs, theirs.newline)
    found = []
    for one in conflicts:
        found.append(Difference(one, *[reading(one.what, one.name, text) for text in (one.base, one.ours, one.theirs)]))
    return OpenEntry(base, ours, theirs, tuple(found))


def edit_conflict(title: str, clashes: Iterable[Conflict]) -> ConflictError:
    """Return the error for parts of one entry that both sides changed.

    `details` hold `fields` (each once) and `conflicts` (each with entry, what, field, base, ours, theirs).
    """
    conflicts = [clash._replace(entry=title) for clash in clashes]
    fields = list(dict.fromkeys(one.field for one in conflicts))
    words = f"another writer changed {', '.join(fields)} of {title[:60]!r} meanwhile"
    told = [one.json() for one in conflicts]
    return ConflictError("document.conflict", words, _HELP, fields=fields, conflicts=told)


MARKER_SIZE = 7
"""Characters of a conflict marker, unless git asks for more."""

PATTERNS = ("**/.aiter/memory/*.md", "**/.aiter/memory/archive/*.md", "**/.aegis/memory/memories.*")
"""The files that can be merged, as `.gitattributes` names them."""


@dataclass(frozen=True, slots=True)
class MergedFile:
    """The bytes of a merge, with git's conflict markers where both sides changed the same.

    `conflicts` are these places. `kept` are entries that one side removed and the other changed: they stay. Both have
    the form of `Conflict.json`.
    """

    data: bytes
    conflicts: tuple[dict[str, object], ...] = ()
    kept: tuple[dict[str, object], ...] = ()


def merge_versions(path: str, base: bytes, ours: bytes, theirs: bytes, marker: int = MARKER_SIZE) -> MergedFile:
    """Merge two versions of the memory file at `path` that come from `base`; `ours` is the branch that git is on.

    Markdown memory files are merged by entry, field, table row and line; entries that either side added are all kept.
    In a file of facts each line is a fact; one of theirs whose id is taken gets the next free id. Raises UsageError
    `merge.unknown_file` for a path that is no memory file.
    """
    path = path.replace("\\", "/")
    for pattern, function in _KINDS:
        if pattern.search(path):
            if ours in (base, theirs) or theirs == base:
                return MergedFile(theirs if ours == base else ours)
            return function(path, base, ours, theirs, marker)
    words = f"{path!r} is not a memory file that can be merged by its entries"
    raise UsageError("merge.unknown_file", words, "name the file with --path .aiter/memory/tasks.md", path=path)


def _documents(path: str, base: bytes, ours: bytes, theirs: bytes, marker: int) -> MergedFile:
    """Merge Markdown; conflict markers enclose only the lines that differ between the two sides."""
    versions = parse(base), parse(theirs), parse(ours)
    merged = merge(*versions, kind_of(path))
    data = merged.document.dump()
    if merged.conflicts:
        data = _marked(merged.document, merge(*versions, kind_of(path), decide=ours_of).document, marker)
    return MergedFile(data, tuple(map(_turned, merged.conflicts)), tuple(map(_turned, merged.kept)))


def _turned(conflict: Conflict) -> dict[str, object]:
    """Return a conflict with the sides swapped to git's names: the merge keeps what git calls ours."""
    found = conflict.json()
    return {**found, "ours": found["theirs"], "theirs": found["ours"]}


def _marked(ours: Document, theirs: Document, size: int) -> bytes:
    """Return two versions as one file, with conflict markers around the lines that differ.

    They are compared section by section, so that a moved entry is marked in both sections, but no heading is.
    """
    sides = [_parts(ours), _parts(theirs)]
    if [heading for heading, _ in sides[0]] != [heading for heading, _ in sides[1]]:
        sides = [[(b"", ours.dump())], [(b"", theirs.dump())]]
    newline = ours.newline.encode()
    marks = [mark * size + name + newline for mark, name in ((b"<", b" ours"), (b"=", b""), (b">", b" theirs"))]
    chunks: list[bytes] = []
    for (_, one), (_, two) in zip(*sides, strict=True):
        mine, other = lines_of(one), lines_of(two)
        at = 0
        for a0, a1, b0, b1 in differences(mine, other):
            chunks += mine[at:a0]
            at = a1
            for mark, lines in zip(marks, (mine[a0:a1], other[b0:b1], []), strict=True):
                open_end = bool(lines) and not lines[-1].endswith(b"\n")
                chunks += [mark, *lines, newline if open_end else b""]
        chunks += mine[at:]
    return b"".join(chunks)


def _parts(document: Document) -> list[tuple[bytes, bytes]]:
    """Return the heading and all bytes of each section; part 0, without a heading, is the BOM and the front matter."""
    parts: list[tuple[bytes, bytes]] = [(b"", document.bom + document.front_raw)]
    parts += [(section.heading, section.raw) for _, section in document.all_sections()]
    return parts


def _facts(_path: str, base: bytes, ours: bytes, theirs: bytes, _marker: int) -> MergedFile:
    """Merge files with one fact a line: ours without what they removed, then what they added."""
    before, mine, other = [[line.rstrip(b"\r\n") for line in lines_of(data)] for data in (base, ours, theirs)]
    removed = set(before) - set(other)
    lines = [line for line in mine if line not in removed]
    known = {*before, *mine}
    highest = max((_number(line) for line in (*before, *mine, *other)), default=0)
    taken = {_id(line) for line in lines}
    for line in other:
        if line in known:
            continue
        if _id(line) in taken and _number(line) > 0:
            highest += 1
            line = _with_number(line, highest)
        taken.add(_id(line))
        lines.append(line)
    newline = b"\r\n" if b"\r\n" in ours else b"\n"
    return MergedFile(b"".join(line + newline for line in lines))


_NUMBERED = re.compile(rb'("id"\s*:\s*"m-)([0-9]{1,18})(")')


def _number(line: bytes) -> int:
    """Return the number in the id of a fact's line, 0 where it has none."""
    found = _NUMBERED.search(line)
    return int(found[2]) if found else 0


def _id(line: bytes) -> object:
    """Return the id of a fact's line; for a line that is not a fact, the line itself."""
    try:
        return json.loads(line)["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return line


def _with_number(line: bytes, number: int) -> bytes:
    """Return a fact's line with another number, all other bytes unchanged."""
    return _NUMBERED.sub(lambda found: found[1] + str(number).encode() + found[3], line, count=1)


def _mark(_path: str, _base: bytes, ours: bytes, theirs: bytes, _marker: int) -> MergedFile:
    """Merge the highest number given to a fact: the higher one wins."""
    return MergedFile(max(ours, theirs, key=lambda data: int(data) if data.strip().isdigit() else -1))


_KINDS: tuple[tuple[re.Pattern[str], Callable[[str, bytes, bytes, bytes, int], MergedFile]], ...] = (
    (re.compile(r"(?:^|/)\.aegis/memory/memories\.jsonl$"), _facts),
    (re.compile(r"(?:^|/)\.aegis/memory/memories\.seq$"), _mark),
    (re.compile(r"(?:^|/)\.aiter/memory/(?:archive/)?[^/]+\.md$"), _documents),
    (
        re.compile(r"(?:^|/)(?:tasks|journal|knowledge|contacts|orchestration|monitors|config)(?:-\d{4}-\d{2})?\.md$"),
        _documents,
    ),
)
