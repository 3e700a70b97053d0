"""Three-way merge of documents: by sections, entries, fields, table rows and lines; conflicts are values.

What only one side changed is taken from it byte for byte. Where both changed the same, the merged document keeps
theirs, and the conflict says what ours is. Markers are never written.
"""

from __future__ import annotations

import re

from memory.document.lines import decode
from memory.document.model import Document, parse
from memory.errors import UsageError

from .apply import apply_mine, with_text
from .bodies import BodyClash
from .build import build
from .conflicts import Conflict, MergeResult, Spot

__all__ = ["Conflict", "MergeResult", "apply_mine", "kind_of", "merge", "with_text"]
_KINDS = {"orchestration": "plans"}
_MONTH = re.compile(r"-\d{4}-\d{2}$", re.ASCII)


def kind_of(name: str) -> str:
    """Return the kind of a memory file by its name or path: `archive/tasks-2024-01.md` holds tasks."""
    stem = _MONTH.sub("", name.rpartition("/")[2].removesuffix(".md"))
    return _KINDS.get(stem, stem)


def merge(base: Document, ours: Document, theirs: Document, kind: str, *, strict: bool = False) -> MergeResult:
    """Merge two versions of a file that come from one; never fails, whatever the bytes are.

    `theirs` is what stands in the file, `kind` one of tasks, journal, knowledge, contacts, plans, monitors, config
    (it says what an entry is known by). An entry that one side removed and the other changed stays and is listed in
    `kept`; with `strict` it is a conflict instead, and the document keeps theirs.
    """
    before, mine, other = base.dump(), ours.dump(), theirs.dump()
    if mine in (before, other):
        return MergeResult(theirs)
    if other == before:
        return MergeResult(ours)
    base, ours, theirs = _same_line_ends(base, ours, theirs)
    try:
        merged = build(base, ours, theirs, kind, strict)
    except UsageError as error:
        if error.code not in ("document.unclosed", "document.structure"):
            raise
        merged = None
    if merged is not None:
        return merged
    clash = BodyClash("file", "", *[decode(side.dump()) for side in (base, ours, theirs)])
    why = "the two versions cannot stand in one file: one of them leaves a block open, or its structure is unclear"
    return MergeResult(theirs, (Conflict(Spot(kind), clash, why),))


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
    data = document.dump()
    feeds, returns, pairs = data.count(b"\n"), data.count(b"\r"), data.count(b"\r\n")
    if feeds == returns == pairs:
        return "\r\n" if pairs else ""
    if returns == 0:
        return "\n"
    return "\r" if feeds == 0 else ""
