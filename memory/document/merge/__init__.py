"""Three-way merge of documents: by sections, entries, fields, table rows and lines; conflicts are values.

What only one side changed is taken from it byte for byte. Where both changed the same, the merged document keeps
theirs, or what the caller decides, and the conflict has all three versions. Markers are never written.
"""

from __future__ import annotations

import re
from functools import partial

from memory.document.lines import LINE_END, decode, encode
from memory.document.model import Document, parse, updated
from memory.errors import ConflictError

from .build import build
from .conflicts import Conflict, Decide, MergeResult, ours_of, reading, source, theirs_of

__all__ = ["Conflict", "Decide", "MergeResult", "kind_of", "merge", "ours_of", "reading", "source"]
_KINDS = {"orchestration": "plans"}
_MONTH = re.compile(r"-\d{4}-\d{2}$", re.ASCII)


def kind_of(name: str) -> str:
    """Return the kind of a memory file by its name or path: `archive/tasks-2024-01.md` holds tasks."""
    stem = _MONTH.sub("", name.rpartition("/")[2].removesuffix(".md"))
    return _KINDS.get(stem, stem)


def merge(
    base: Document, ours: Document, theirs: Document, kind: str, *, strict: bool = False, decide: Decide = theirs_of
) -> MergeResult:
    """Merge two versions of a file that come from one.

    `theirs` is what the file has, `kind` one of tasks, journal, knowledge, contacts, plans, monitors, config
    (it says what an entry is known by). An entry that one side removed and the other changed stays and is listed in
    `kept`; with `strict` it is a conflict like the others. `decide` returns what counts for each conflict, else theirs.
    Raises ConflictError `document.conflict` where what it returns cannot be in the place.
    """
    before, mine, other = base.dump(), ours.dump(), theirs.dump()
    if mine in (before, other):
        return MergeResult(theirs)
    if other == before:
        return MergeResult(ours)
    base, ours, theirs = _same_line_ends(base, ours, theirs)

    def settle(conflict: Conflict, by: Decide = decide) -> str | None:
        """Return what counts: what one side removed stays without asking, unless the merge is strict."""
        changed = conflict.theirs if conflict.ours is None else conflict.ours
        return changed if conflict.stays and not strict else by(conflict)

    merged = build(base, ours, theirs, kind, strict, settle)
    if merged is not None:
        kept = tuple(one for one in merged.conflicts if one.stays and not strict)
        return merged._replace(conflicts=tuple(one for one in merged.conflicts if one not in kept), kept=kept)
    if decide is not theirs_of and build(base, ours, theirs, kind, strict, partial(settle, by=theirs_of)) is not None:
        raise ConflictError(
            "document.conflict",
            "a chosen text cannot be written there: it would change how the file is read",
            "close code fences and HTML blocks in it, or edit the file",
        )
    whole = [decode(side.dump()) for side in (base, ours, theirs)]
    conflict = Conflict("file", "", whole[0], whole[1], whole[2], kind)
    return MergeResult(updated(theirs, encode(decide(conflict) or "")), (conflict,))


def _same_line_ends(base: Document, ours: Document, theirs: Document) -> tuple[Document, Document, Document]:
    """Follow the side that gave the whole file other line ends, so that not every line counts as changed."""
    ends = [_only_line_end(document) for document in (base, ours, theirs)]
    if ends[1] == ends[2] or "" in ends or ends[0] not in ends[1:]:
        return base, ours, theirs
    wanted = ends[2] if ends[1] == ends[0] else ends[1]
    base, ours, theirs = [
        document if end == wanted else parse(document.dump().replace(end.encode(), wanted.encode()))
        for document, end in zip((base, ours, theirs), ends, strict=True)
    ]
    return base, ours, theirs


def _only_line_end(document: Document) -> str:
    """Return the line end of a file that has no other, else an empty text."""
    ends = set(LINE_END.findall(document.dump()))
    return ends.pop().decode() if len(ends) == 1 else ""
